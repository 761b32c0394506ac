import type { Seq, SeqRange } from '../point.ts';

/** A stretch of a view: stored events as they are, or one event that a marker carries. */
export type Piece =
  | ({ readonly kind: 'range'; readonly branch: string } & SeqRange)
  | {
      readonly kind: 'carried';
      readonly branch: string;
      /** The marker's seq, which is the event's, too. */
      readonly seq: Seq;
      /** Every seq the event can be named by: its own and those of the events it replaced. */
      readonly answers: readonly Seq[];
      readonly turn: number;
      readonly type: string;
      /** For an inserted event, the seq it was put behind. */
      readonly after?: Seq;
    };
