/** The space that a session takes, in bytes of UTF-8 without indexes. */
export interface SessionSize {
  readonly branches: number;
  readonly events: number;
  /** The skeletons of its events. */
  readonly eventBytes: number;
  /** The texts of the parts it holds, each once; other sessions may hold the same ones. */
  readonly partBytes: number;
  readonly snapshots: number;
  /** The values of its snapshots. */
  readonly snapshotBytes: number;
}
