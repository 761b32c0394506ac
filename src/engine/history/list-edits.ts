import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import type { ListEdit, ListEdits } from '../../core/parts/decode.ts';
import type { Seq } from '../../core/point.ts';
import type { EditMarker } from '../../core/view/marker.ts';
import type { Piece } from '../../core/view/piece.ts';
import { liveMarkers } from '../../core/view/view.ts';
import { listTypes } from './list-reader.ts';
import { type Change, ListScan } from './list-scan.ts';
import { eventsAt, onceFor, type Sight } from './sight.ts';
import { unwrap } from './stored-events.ts';

/**
 * Finds how a view's edits change the lists of recorded calls: a message that was replaced or removed is replaced or
 * removed in every list that held it by then. It is found by its node in the linked list, so that equal text elsewhere
 * stays. Undefined if no edit touches a list, which is nearly always.
 */
export function listEditsOf(sight: Sight): Promise<ListEdits | undefined> {
  return onceFor(known, sight, () => findListEdits(sight));
}

const known = new WeakMap<Sight, Promise<ListEdits | undefined>>();

async function findListEdits(sight: Sight): Promise<ListEdits | undefined> {
  const changes = await changesOf(sight);
  if (changes.length === 0) return undefined;
  const edits = new Map<string, ListEdit[]>();
  const left = await new ListScan(sight, edits, 'same-run').run(changes);
  // A run often continues the conversation of its agent's earlier run.
  if (left.length > 0) await new ListScan(sight, edits, 'same-agent').run(left);
  return edits.size === 0 ? undefined : edits;
}

const concerning: ReadonlySet<string> = new Set(['message.added', 'call.ended', ...listTypes]);

/** Returns the events that the live replacements and reverts of a view changed, if a list can contain them. */
async function changesOf(sight: Sight): Promise<Change[]> {
  const answers = changedAnswers(sight);
  if (answers.length === 0) return [];
  const events = new Map<Seq, Event>();
  for (const event of await eventsAt(sight, [
    ...new Set(answers.flatMap(({ seqs, now }) => (now === undefined ? seqs : [...seqs, now]))),
  ]))
    events.set(event.seq, isStructural(event.type) ? unwrap(event) : event);
  return answers.flatMap(({ seqs, now, at }) => {
    const versions = seqs.flatMap((seq) => events.get(seq) ?? []);
    const [first] = versions;
    if (first === undefined || !concerning.has(first.type)) return [];
    return [{ versions, after: now === undefined ? undefined : events.get(now), at }];
  });
}

/** A changed event of a view: the seqs it was shown under before, and the seq it is shown under now. */
interface Answers {
  readonly seqs: readonly Seq[];
  readonly now: Seq | undefined;
  /** The seq of the marker that changed it last. */
  readonly at: Seq;
}

function changedAnswers({ hypothesis, view }: Sight): Answers[] {
  const { history, at } = hypothesis;
  const live = liveMarkers(history, at);
  const markerSeqs = new Set(history.markers.map((marker) => marker.seq));
  const changed = view.pieces
    .filter(isReplacement)
    .map((piece) => ({ seqs: piece.answers.slice(0, -1), now: piece.seq, at: piece.seq }));
  // A rewind takes events out together with the lists after them; only a revert leaves a gap.
  const dropped = live.flatMap((marker) =>
    marker.kind !== 'reverted'
      ? []
      : marker.seqs
          .filter((seq) => !markerSeqs.has(seq))
          .map((seq) => ({ seqs: versionsOf(seq, live), now: undefined, at: marker.seq })),
  );
  return [...changed, ...dropped];
}

const isReplacement = (piece: Piece): piece is Extract<Piece, { kind: 'carried' }> =>
  piece.kind === 'carried' && piece.answers.length > 1;

/** Returns the seqs of an event and of its replacements, before it was removed. */
function versionsOf(seq: Seq, live: readonly EditMarker[]): Seq[] {
  const versions = [seq];
  for (const marker of live)
    if (marker.kind === 'replaced' && versions.includes(marker.target)) versions.push(marker.seq);
  return versions;
}
