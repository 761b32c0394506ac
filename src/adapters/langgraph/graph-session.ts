import type { Event, EventDraft } from '../../core/event/event.ts';
import type { EventFilter } from '../../core/event/filter.ts';
import type { Point } from '../../core/point.ts';
import type { PointInput } from '../../core/ref.ts';

/** A branch as the saver looks at it: what `session.tree()` gives. */
export interface GraphBranch {
  readonly branch: string;
  readonly parent: Point | null;
  readonly head: number;
  readonly digest: string;
  readonly createdAt: string;
  readonly children: readonly GraphBranch[];
}

/** How the saver reads. */
export interface GraphReplayOptions {
  readonly at?: PointInput;
  readonly history?: 'view' | 'raw';
  readonly after?: number;
  readonly through?: number;
  readonly filter?: EventFilter;
  readonly limit?: number;
}

/** What the saver needs of a session. A `Session` of `openReprise` is one. */
export interface GraphSession {
  append(
    events: readonly EventDraft[],
    options: {
      readonly branch: string;
      readonly continues?: readonly { readonly branch: string; readonly seq: number }[];
    },
  ): Promise<readonly Event[]>;
  replay(options: GraphReplayOptions): AsyncIterable<Event>;
  fork(point: PointInput, options: { readonly reason: string }): Promise<{ readonly name: string }>;
  tree(): Promise<GraphBranch>;
  delete(options: { readonly confirm: string }): Promise<void>;
}

/** What the saver needs of an open store. What `openReprise` gives is one. */
export interface GraphStore {
  session(id: string, options?: { readonly create?: boolean }): Promise<GraphSession>;
  sessions(): AsyncIterable<{ readonly session: string }>;
}
