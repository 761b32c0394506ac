/** Names a session. */
export interface SessionRef {
  readonly namespace: string;
  readonly session: string;
}

/** Names a branch. */
export interface BranchRef extends SessionRef {
  readonly branch: string;
}
