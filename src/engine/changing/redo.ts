import { RepriseError } from '../../core/error.ts';
import type { JsonObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { later, previous } from '../../core/point.ts';
import type { PointInput } from '../../core/ref.ts';
import { type EditMarker, markerOf } from '../../core/view/marker.ts';
import { segmentsOf, viewChanges, viewOf } from '../../core/view/segment.ts';
import { lastLiveMarker, seqsOf, type View, viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, placeAtHead } from '../history/place.ts';
import { readAll } from '../history/stored-events.ts';
import { branchAtHead, type Marked, type MarkOptions, mark, markOptionNames } from './mark.ts';

const redoKeys: KnownKeys = optionKeys<MarkOptions>('redo', markOptionNames);

/** The draft of the marker that redo appends. */
interface Undoing {
  readonly type: 'branch.rewound' | 'event.reverted';
  readonly data: JsonObject;
}

/** Undoes the last rewind, revert, replacement or insertion of a branch that is still in effect. */
export async function redo(
  engine: Engine,
  session: string,
  branch: PointInput,
  options: MarkOptions = {},
): Promise<Marked> {
  checkKeys(options, redoKeys);
  const name = branchAtHead(branch, 'redo on');
  return mark(engine, { head: await placeAtHead(engine, session, name), options }, async (place) => {
    const marker = lastLiveMarker(place.history, name, place.seq);
    if (marker === undefined) {
      throw new RepriseError(
        'redo.nothing',
        `Cannot redo on "${name}": no rewind, revert or edit of its own is in effect`,
        { details: { branch: name } },
      );
    }
    const isRewind = marker.kind === 'rewound' || marker.kind === 'rewoundToTurn';
    const draft: Undoing = isRewind
      ? { type: 'branch.rewound', data: { to: marker.seq - 1, redo: true } }
      : { type: 'event.reverted', data: { target: marker.seq, seqs: [marker.seq], redo: true } };
    if (isRewind) refuseOrphans(place, marker);
    await refuseDoubleVersions(engine, place, marker, draft);
    return { drafts: [draft], more: {} };
  });
}

function refuseOrphans(place: Place, marker: EditMarker): void {
  const { come } = viewChanges(viewAt(place.history, previous(marker.seq)), viewAt(place.history, place.seq));
  const orphans = come.filter((seq) => seq > marker.seq);
  if (orphans.length === 0) return;
  throw new RepriseError(
    'redo.orphans',
    `Cannot redo on "${place.record.branch}": ${orphans.length === 1 ? '1 event' : `${orphans.length} events`} since seq ${marker.seq} would be orphaned`,
    {
      hint: `Fork at ${place.record.branch}@${marker.seq - 1} instead: both histories stay.`,
      details: { branch: place.record.branch, marker: marker.seq, orphans: orphans.slice(0, 100) },
    },
  );
}

/** Refuses a redo that would bring a state version into the view twice: the number was given again since. */
async function refuseDoubleVersions(engine: Engine, place: Place, marker: EditMarker, draft: Undoing): Promise<void> {
  const next = nextView(place, draft);
  const restored = viewChanges(viewAt(place.history, place.seq), next).come;
  const recent = [...seqsOf(next)].filter((seq) => seq > marker.seq);
  if (recent.length === 0 || restored.length === 0) return;
  const wanted = new Set([...recent, ...restored]);
  const seen = new Set<string>();
  for (const event of await readAll(engine, place.session, segmentsOf(viewOf(next, wanted)))) {
    if (event.type !== 'state.committed') continue;
    for (const { agent, key, version } of (event.data['operations'] ?? []) as readonly JsonObject[]) {
      const name = JSON.stringify([agent, key, version]);
      if (seen.has(name))
        refuseVersion(place, marker, `version ${String(version)} of state key ${JSON.stringify(key)}`);
      seen.add(name);
    }
  }
}

function refuseVersion({ record: { branch } }: Place, { seq }: EditMarker, version: string): never {
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
