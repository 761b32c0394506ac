import { type JsonObject, objectAt } from '../../json.ts';
import { type EventSpec, eventType, field, need } from '../event-spec.ts';
import type { GistWriter } from '../gist-writer.ts';
import { noise, reason } from './shared-fields.ts';

const redo = field('boolean', 'Whether redo made this marker.', noise);
const carried = need('object', 'The new event: `{ type, version, time, agent?, run?, turn, cause?, data }`.');

/** Returns the entry of a marker; its gist ends with the reason. */
function marker(
  about: string,
  declared: Pick<EventSpec, 'fields' | 'example'> & {
    readonly gist: (data: JsonObject, write: GistWriter) => string;
  },
): EventSpec {
  return eventType(about, {
    ...declared,
    structural: true,
    gist: (data, write) => [declared.gist(data, write), write.quote(data['reason'])],
  });
}

/** Markers: events that change how the history before them is read. */
export const structuralTypes: Readonly<Record<string, EventSpec>> = {
  'branch.forked': marker(
    'A branch began at a point of its parent. It is the first event of every branch but `main`.',
    {
      fields: {
        parent: need('object', '`{ seq, digest }` of the point it began at.'),
        turn: field('number', 'The fork turn, when the branch began at a turn.'),
        reason,
        metadata: field('object', "The branch's metadata: its parent's, overlaid by that of the fork."),
      },
      gist: (data) => `at ${String(objectAt(data, 'parent')?.['seq'] ?? '?')}`,
      example: { parent: { seq: 12, digest: '…' }, reason: 'too broad', metadata: {} },
    },
  ),
  'branch.rewound': marker('The view went back to that of a seq, or to the events at or before a turn.', {
    fields: {
      to: field('number', 'The seq whose view it is now.'),
      toTurn: field('number', 'The turn after which events left the view.'),
      dropped: field('array', 'With `toTurn`: the ranges `[after, through]` of seqs that left the view.'),
      only: field('string', 'With `toTurn`: `beliefs` when only beliefs left the view.'),
      reason,
      redo,
    },
    gist: ({ to, toTurn }) => (to === undefined ? `to turn ${String(toTurn)}` : `to ${String(to)}`),
    example: { to: 7, reason: 'wrong order' },
  }),
  'event.replaced': marker('A new event replaced an event in the view.', {
    fields: { seq: need('number', 'The seq of the event it replaces.'), event: carried, reason },
    gist: ({ seq, event }, write) => `${String(seq)} → ${write.event(event)}`,
    example: {
      seq: 5,
      event: {
        type: 'note.added',
        version: 1,
        time: '2026-11-15T10:00:00.000Z',
        turn: 2,
        data: { text: 'Called once' },
      },
    },
  }),
  'event.inserted': marker('A new event was inserted after an event; 0 is the beginning.', {
    fields: { after: need('number', 'The seq of the event it follows.'), event: carried, reason },
    gist: ({ after, event }, write) => `after ${String(after)}: ${write.event(event)}`,
    example: {
      after: 5,
      event: {
        type: 'note.added',
        version: 1,
        time: '2026-11-15T10:00:00.000Z',
        turn: 2,
        data: { text: 'Called twice' },
      },
    },
  }),
  'event.reverted': marker('Events left the view, or markers were undone.', {
    fields: {
      target: need('number', 'The seq of the event that was asked for.'),
      seqs: need('array', 'Every seq it takes out: the target and the events that go with it.'),
      reason,
      redo,
    },
    gist: ({ seqs }, write) => write.list(seqs),
    example: { target: 8, seqs: [8, 9], reason: 'not ours' },
  }),
  'payload.erased': marker('Payloads were erased; the chain still verifies.', {
    fields: {
      seqs: need('array', 'The events of this branch whose payload is gone.'),
      parts: need('array', 'The digests of stored parts that are gone or have a hole.'),
      holes: field('object', 'The digest of the rest of each part with a hole, by the digest of the part.'),
      keys: field('object', 'The index keys of the erased events, by seq, so that as-of reads still find them.'),
      reason,
    },
    gist: ({ seqs }, write) => write.list(seqs),
    example: { seqs: [3], parts: [], reason: 'personal data' },
  }),
};

/** Returns whether events of a type change how the history before them is read. */
export function isStructural(type: string): boolean {
  return Object.hasOwn(structuralTypes, type);
}
