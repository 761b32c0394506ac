/** The space that a session takes, in bytes of UTF-8 without indexes. */
export interface SessionSize {
  readonly branches: number;
  readonly events: number;
  /** The skeletons of its events. */
  readonly eventBytes: number;
  /** The text of its parts, each once; other sessions may have the same ones. */
  readonly partBytes: number;
  readonly snapshots: number;
  /** The values of its snapshots. */
  readonly snapshotBytes: number;
}
