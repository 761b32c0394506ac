import type { Event } from '../../core/event/event.ts';
import { project } from '../../core/event/projection.ts';
import { type Digest, previous, type Seq, seq as toSeq } from '../../core/point.ts';
import { chunkEvents, type EventColumns } from '../../core/session/event-columns.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Session } from '../../engine/session.ts';
import { eventIndex } from '../../projections/event-index.ts';
import { markers } from '../../projections/markers.ts';

/** A stretch of a view: stored events as they are, or one event that a marker carries. */
export interface IndexPiece {
  readonly after: Seq;
  readonly through: Seq;
  /** Whether the marker at `through` carries the event. */
  readonly carried: boolean;
  /** The seqs of the events that a carried one replaced. */
  readonly replaces: readonly Seq[];
}

/** One part of the index of a branch, in the order in which they come. */
export type IndexPart =
  /** First: the events that follow. */
  | { readonly kind: 'range'; readonly after: Seq; readonly through: Seq; readonly digest: Digest }
  | { readonly kind: 'chunk'; readonly columns: EventColumns }
  /** Last: which of them the view at the head has. */
  | { readonly kind: 'view'; readonly head: Seq; readonly pieces: readonly IndexPiece[] };

/** Which events of a branch to index. */
export interface IndexReading {
  readonly branch: string;
  /** Only events after this seq. */
  readonly after?: number;
  /** The chunk with this seq comes first, then its neighbors; the head if left out. */
  readonly around?: number;
}

/** Reads the index of a branch: its events in columns, from a chosen seq outwards, then the pieces of its view. */
export async function* readIndex(
  session: Session,
  { branch, after: wanted = 0, around }: IndexReading,
): AsyncGenerator<IndexPart, void, undefined> {
  const { head, digest } = await session.branch(branch).locate();
  const after = toSeq(Math.min(wanted, head));
  yield { kind: 'range', after, through: head, digest };
  for (const end of outwards(chunkEnds(after, head), around ?? head)) {
    const start = end - ((end - 1) % chunkEvents) - 1;
    if (after > start) yield* newChunks(session, { branch, after, through: end });
    else yield { kind: 'chunk', columns: await session.at({ branch, seq: end }).fold(eventIndex) };
  }
  yield { kind: 'view', head, pieces: await viewPieces(session, branch, head) };
}

/** Returns the last seq of every chunk that has events after a seq. */
function chunkEnds(after: number, head: number): number[] {
  const ends: number[] = [];
  for (let end = after - (after % chunkEvents) + chunkEvents; end - chunkEvents < head; end += chunkEvents)
    ends.push(Math.min(end, head));
  return ends;
}

/** Returns chunks in the order of their distance from the one that has a seq. */
function outwards(ends: readonly number[], around: number): number[] {
  const found = ends.findIndex((end) => end >= around);
  const middle = found === -1 ? ends.length - 1 : found;
  return ends
    .map((end, index) => ({ end, distance: Math.abs(index - middle) }))
    .sort((a, b) => a.distance - b.distance || a.end - b.end)
    .map(({ end }) => end);
}

/** Reads events that were just appended, in columns; one chunk for each window that they lie in. */
export async function* newChunks(
  session: Session,
  { branch, after, through }: { readonly branch: string; readonly after: number; readonly through: number },
): AsyncGenerator<Extract<IndexPart, { kind: 'chunk' }>, void, undefined> {
  let held: Event[] = [];
  for await (const event of session.at({ branch, seq: through }).replay({ history: 'raw', after })) {
    held.push(event);
    if (event.seq % chunkEvents !== 0 && event.seq !== through) continue;
    yield { kind: 'chunk', columns: project(eventIndex, held) };
    held = [];
  }
}

/** Returns the pieces of the view at a seq of a branch, in view order. */
export async function viewPieces(session: Session, branch: string, head: Seq): Promise<IndexPiece[]> {
  const { branch: root } = await session.at({ branch, seq: 0 }).locate();
  const held = await session.at({ branch, seq: head }).fold(markers);
  return viewAt({ root, markers: held.markers, head }, head).pieces.map((piece) =>
    piece.kind === 'range'
      ? { after: piece.after, through: piece.through, carried: false, replaces: [] }
      : {
          after: previous(piece.seq),
          through: piece.seq,
          carried: true,
          replaces: piece.answers.filter((answer) => answer !== piece.seq),
        },
  );
}
