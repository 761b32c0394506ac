import { RepriseError } from '../../core/error.ts';
import { editedKey, editPlace } from '../../core/event/edit-id.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { beginning, later, previous, type Seq, type SeqRange } from '../../core/point.ts';
import { markerOf } from '../../core/view/marker.ts';
import { segmentsOf, viewChanges, viewOf } from '../../core/view/segment.ts';
import { entryOf, lastLiveMarker, liveMarker, seqsOf, type View, viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { eventsOfKey, sightAt } from '../history/sight.ts';
import { readAll, readHeaders } from '../history/stored-events.ts';
import { type MarkConsequences, type Marked, type MarkOptions, mark, markOptionNames } from './mark.ts';

const redoKeys: KnownKeys = optionKeys<MarkOptions>('redo', markOptionNames);

/** The draft of the marker that redo appends. */
interface Undoing {
  readonly type: 'branch.rewound' | 'event.reverted';
  readonly data: JsonObject;
}

/** The change that redo undoes. */
interface LastChange {
  /** The last of its events that is in effect. */
  readonly seq: Seq;
  readonly undoing: Undoing;
}

/** Undoes the last rewind, revert or edit of a branch that is still in effect; an edit as a whole. */
export async function redo(
  engine: Engine,
  head: Place,
  options: MarkOptions = {},
  follow?: MarkConsequences,
): Promise<Marked> {
  checkKeys(options, redoKeys);
  const name = head.record.branch;
  return mark(engine, { head, options, ...given({ follow }) }, async (place) => {
    const change = await lastChange(engine, place);
    if (change === undefined) {
      throw new RepriseError(
        'redo.nothing',
        `Cannot redo on "${name}": no rewind, revert or edit of this branch is in effect`,
        { details: { branch: name } },
      );
    }
    if (change.undoing.type === 'branch.rewound') refuseOrphans(place, change.seq);
    await refuseDoubleVersions(engine, place, change);
    return { drafts: [change.undoing], more: {} };
  });
}

/** Finds the last change in effect: a marker, or an edit that appended ordinary events, whichever came later. */
async function lastChange(engine: Engine, place: Place): Promise<LastChange | undefined> {
  const { branch } = place.record;
  const marker = lastLiveMarker(place.history, branch, place.seq);
  const appended = await lastAppendedEdit(engine, place);
  const seq = later(beginning, Math.max(marker?.seq ?? 0, appended ?? 0));
  if (seq === beginning) return undefined;
  if (marker?.kind === 'rewound' && marker.seq === seq)
    return { seq, undoing: { type: 'branch.rewound', data: { to: previous(seq), redo: true } } };
  const seqs = await editAround(engine, place, seq);
  return { seq, undoing: { type: 'event.reverted', data: { target: seq, seqs, redo: true } } };
}

/** Returns the seq of the last ordinary event in the view that an edit of this branch appended. */
async function lastAppendedEdit(engine: Engine, place: Place): Promise<Seq | undefined> {
  for await (const event of eventsOfKey(sightAt(engine, place), editedKey))
    return event.branch === place.record.branch ? event.seq : undefined;
  return undefined;
}

/** Returns the seqs of the edit whose last event in effect has a seq, as far as they are in effect. */
async function editAround(engine: Engine, place: Place, last: Seq): Promise<Seq[]> {
  const { branch } = place.record;
  const idsOf = async (range: SeqRange): Promise<ReadonlyMap<Seq, string>> => {
    const found = new Map<Seq, string>();
    for await (const rows of readHeaders(engine, place.session, [{ branch, ...range, except: [], carried: false }]))
      for (const { seq, id } of rows) found.set(seq, id);
    return found;
  };
  const own = editPlace((await idsOf({ after: previous(last), through: last })).get(last) ?? '');
  if (own === undefined || own.index === 0) return [last];
  const after = later(beginning, Math.max(0, last - own.index - 1));
  const ids = await idsOf({ after, through: last });
  const view = viewAt(place.history, place.seq);
  const isInEffect = (seq: Seq): boolean =>
    place.history.markers.some((marker) => marker.seq === seq)
      ? liveMarker(place.history, place.seq, seq) !== undefined
      : entryOf(view, seq) !== undefined;
  return [...ids].flatMap(([seq, id]) => (editPlace(id)?.edit === own.edit && isInEffect(seq) ? [seq] : []));
}

function refuseOrphans(place: Place, rewind: Seq): void {
  const { come } = viewChanges(viewAt(place.history, previous(rewind)), viewAt(place.history, place.seq));
  const orphans = come.filter((seq) => seq > rewind);
  if (orphans.length === 0) return;
  throw new RepriseError(
    'redo.orphans',
    `Cannot redo on "${place.record.branch}": ${orphans.length === 1 ? '1 event' : `${orphans.length} events`} since seq ${rewind} would be orphaned`,
    {
      hint: `Fork at ${place.record.branch}@${rewind - 1} instead: both histories stay.`,
      details: { branch: place.record.branch, marker: rewind, orphans: orphans.slice(0, 100) },
    },
  );
}

/** Refuses a redo that would bring a state version into the view twice: the number was given again since. */
async function refuseDoubleVersions(engine: Engine, place: Place, { seq: last, undoing }: LastChange): Promise<void> {
  const next = nextView(place, undoing);
  const restored = viewChanges(viewAt(place.history, place.seq), next).come;
  const recent = [...seqsOf(next)].filter((seq) => seq > last);
  if (recent.length === 0 || restored.length === 0) return;
  const wanted = new Set([...recent, ...restored]);
  const seen = new Set<string>();
  for (const event of await readAll(engine, place.session, segmentsOf(viewOf(next, wanted)))) {
    if (event.type !== 'state.committed') continue;
    for (const { agent, key, version } of (event.data['operations'] ?? []) as readonly JsonObject[]) {
      const name = JSON.stringify([agent, key, version]);
      if (seen.has(name)) refuseVersion(place, last, `version ${String(version)} of state key ${JSON.stringify(key)}`);
      seen.add(name);
    }
  }
}

function refuseVersion({ record: { branch } }: Place, seq: Seq, version: string): never {
  throw new RepriseError('redo.orphans', `Cannot redo on "${branch}": ${version} would be in the view twice`, {
    hint: `Fork at ${branch}@${seq - 1} instead: both histories stay.`,
    details: { branch, marker: seq },
  });
}

function nextView({ record: { branch }, history, seq: head }: Place, { type, data }: Undoing): View {
  const seq = later(head, 1);
  const markers = [...history.markers, markerOf({ branch, seq, type, data })];
  return viewAt({ ...history, markers, head: seq }, seq);
}
