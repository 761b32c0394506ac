import { type EventSpec, field, need } from '../event-spec.ts';

const reason = field('string', 'Why, in the words of who did it.', { role: 'noise' });
const redo = field('boolean', 'Whether redo made this marker.', { role: 'noise' });
const carried = need('object', 'The new event: `{ type, version, time, agent?, run?, turn, cause?, data }`.');

function spec(about: string, fields: EventSpec['fields'], example: EventSpec['example']): EventSpec {
  return { version: 1, about, fields, structural: true, example };
}

/** The events that change how the history before them is read. */
export const structuralTypes: Readonly<Record<string, EventSpec>> = {
  'branch.forked': spec(
    'A branch began at a point of its parent. It is the first event of every branch but `main`.',
    {
      parent: need('object', '`{ seq, digest }` of the point it began at.'),
      reason,
      metadata: field('object', "The branch's metadata: its parent's overlaid by what was given."),
    },
    { parent: { seq: 12, digest: '…' }, reason: 'too broad', metadata: {} },
  ),
  'branch.rewound': spec(
    'The view became an earlier one: that of a seq, or what is left at or before a turn.',
    {
      to: field('number', 'The seq whose view it is now.'),
      toTurn: field('number', 'The turn after which events left the view.'),
      dropped: field('array', 'With `toTurn`: the ranges `[after, through]` of seqs that left the view.'),
      only: field('string', 'With `toTurn`: `beliefs` when only beliefs left the view.'),
      reason,
      redo,
    },
    { to: 7, reason: 'wrong order' },
  ),
  'event.replaced': spec(
    'An event stands in the place of another.',
    { seq: need('number', 'The event it stands for.'), event: carried, reason },
    {
      seq: 5,
      event: {
        type: 'note.added',
        version: 1,
        time: '2026-11-15T10:00:00.000Z',
        turn: 2,
        data: { text: 'Called once' },
      },
    },
  ),
  'event.inserted': spec(
    'An event was put behind another; 0 is the very beginning.',
    { after: need('number', 'The event it stands behind.'), event: carried, reason },
    {
      after: 5,
      event: {
        type: 'note.added',
        version: 1,
        time: '2026-11-15T10:00:00.000Z',
        turn: 2,
        data: { text: 'Called twice' },
      },
    },
  ),
  'event.reverted': spec(
    'Events left the view, or markers were taken back.',
    {
      target: need('number', 'The event that was meant.'),
      seqs: need('array', 'Every seq it takes out: the target and what goes with it.'),
      reason,
      redo,
    },
    { target: 8, seqs: [8, 9], reason: 'not ours' },
  ),
  'payload.erased': spec(
    'Payloads were forgotten; the chain still verifies.',
    {
      seqs: need('array', 'The events of this branch whose payload is gone.'),
      parts: need('array', 'The digests of stored parts that are gone or have a hole.'),
      holes: field('object', 'The digest of what is left of each part with a hole, by the digest of the part.'),
      keys: field(
        'object',
        'The index keys of the erased events, by seq, so that as-of reads still find that there was something.',
      ),
      reason,
    },
    { seqs: [3], parts: [], reason: 'personal data' },
  ),
};

/** Whether events of this type change how the history before them is read. */
export function isStructural(type: string): boolean {
  return Object.hasOwn(structuralTypes, type);
}
