import { isInGroup } from '../../core/event/catalogue.ts';
import type { EventDraft } from '../../core/event/event.ts';
import type { EventGroup } from '../../core/event/event-spec.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import { checkTurn, mainBranch, type PointInput, parsePoint } from '../../core/ref.ts';
import { toRanges } from '../../core/view/marker.ts';
import { segmentsOf } from '../../core/view/segment.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, placeAt } from '../history/place.ts';
import { readHeaders } from '../history/stored-events.ts';
import { type Marked, type MarkOptions, mark, markOptionNames } from './mark.ts';

/** How to rewind. */
export interface RewindOptions extends MarkOptions {
  /** With `{ turn }`: only beliefs and contradictions of later turns leave the view. */
  readonly only?: EventGroup;
}

const rewindKeys: KnownKeys = optionKeys<RewindOptions>('rewind', { ...markOptionNames, only: true });

/**
 * Makes the view an earlier one. A point string, `{ seq }`, `{ run }` and `{ time }` go back to the view of that point;
 * `{ turn: N }` takes every event of a later turn out of the view, wherever it stands.
 */
export async function rewind(
  engine: Engine,
  session: string,
  point: PointInput,
  options: RewindOptions = {},
): Promise<Marked> {
  checkKeys(options, rewindKeys);
  const turn = selectedTurn(point);
  if (turn !== undefined) {
    const branch = (point as { readonly branch?: string }).branch ?? mainBranch;
    return mark(engine, session, branch, options, async (place) => ({
      drafts: [await rewoundToTurn(engine, place, turn, options.only)],
      more: {},
    }));
  }
  const { branch, at } = parsePoint(point);
  const { seq } = await placeAt(engine, session, branch, at);
  return mark(engine, session, branch, options, async () => ({
    drafts: [{ type: 'branch.rewound', data: { to: seq } }],
    more: {},
  }));
}

/**
 * The turn of a point given as `{ turn }`, which selects by turn; `@turn:N` in a string means the prefix, and an event
 * given as a point has a seq, which says more.
 */
export function selectedTurn(point: PointInput): number | undefined {
  if (typeof point !== 'object' || point === null || 'seq' in point || !('turn' in point)) return undefined;
  return checkTurn(point.turn);
}

/** The marker that takes later turns out of a view, with the ranges it resolved to. */
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
