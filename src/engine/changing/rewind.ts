import { RepriseError } from '../../core/error.ts';
import { isInGroup } from '../../core/event/catalogue.ts';
import type { EventDraft } from '../../core/event/event.ts';
import type { EventGroup } from '../../core/event/event-spec.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import { toRanges } from '../../core/view/marker.ts';
import { segmentsOf } from '../../core/view/segment.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, placeOn } from '../history/place.ts';
import { readHeaders } from '../history/stored-events.ts';
import type { Told } from '../history/where.ts';
import { type Marked, type MarkOptions, mark, markOptionNames } from './mark.ts';

/** How to rewind. */
export interface RewindOptions extends MarkOptions {
  /** With `{ story }`: only beliefs and contradictions of later turns leave the view. */
  readonly only?: EventGroup;
}

const rewindKeys: KnownKeys = optionKeys<RewindOptions>('rewind', { ...markOptionNames, only: 'text' });

/**
 * Makes the view an earlier one: that of a place, or in story time the view without every event of a later turn, wherever
 * it is.
 */
export async function rewind(engine: Engine, { place: to, story }: Told, options: RewindOptions = {}): Promise<Marked> {
  checkKeys(options, rewindKeys);
  checkOnly(options, story !== undefined);
  const head = placeOn(to.session, to.record);
  if (story !== undefined)
    return mark(engine, { head, options }, async (place) => ({
      drafts: [await rewoundToTurn(engine, place, story, options.only)],
      more: {},
    }));
  return mark(engine, { head, options }, async () => ({
    drafts: [{ type: 'branch.rewound', data: { to: to.seq } }],
    more: {},
  }));
}

/** Refuses an `only` that would be ignored: everything would be rewound. */
function checkOnly({ only }: RewindOptions, isToTurn: boolean): void {
  if (only === undefined || (only === 'beliefs' && isToTurn)) return;
  const why =
    only === 'beliefs'
      ? 'a point has a whole view, and only { story } selects events'
      : `${shownValue(only)} is not "beliefs"`;
  throw new RepriseError('option.invalid', `Cannot rewind with "only": ${why}`, {
    hint: 'Pass rewind({ story }, { only: "beliefs" }), or leave "only" out.',
    details: { option: 'only' },
  });
}

/** Returns the marker that takes later turns out of a view, with the ranges it resolved to. */
export async function rewoundToTurn(
  engine: Engine,
  place: Place,
  toTurn: number,
  only?: EventGroup,
): Promise<EventDraft> {
  const view = viewAt(place.history, place.seq);
  const inside = new Map(
    view.pieces.flatMap((piece) => (piece.kind === 'carried' ? [[piece.seq, piece] as const] : [])),
  );
  const dropped: Seq[] = [];
  for await (const rows of readHeaders(engine, place.session, segmentsOf(view))) {
    for (const row of rows) {
      const { turn, type } = inside.get(row.seq) ?? row;
      if (turn > toTurn && (only === undefined || isInGroup(type, only))) dropped.push(row.seq);
    }
  }
  const ranges = toRanges(dropped.sort((a, b) => a - b)).map(({ after, through }) => [after, through]);
  return { type: 'branch.rewound', data: { toTurn, dropped: ranges, ...given({ only }) } };
}
