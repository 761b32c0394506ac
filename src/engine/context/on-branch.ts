/** A branch of a session. */
export interface OnBranch {
  readonly session: string;
  readonly branch: string;
}
