import { RepriseError } from '../../core/error.ts';
import { isInGroup } from '../../core/event/catalogue.ts';
import type { EventDraft } from '../../core/event/event.ts';
import type { EventGroup } from '../../core/event/event-spec.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import { checkTurn, mainBranch, type PointInput, parsePoint } from '../../core/ref.ts';
import { toRanges } from '../../core/view/marker.ts';
import { segmentsOf } from '../../core/view/segment.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, placeAt, placeAtHead, placeOn } from '../history/place.ts';
import { readHeaders } from '../history/stored-events.ts';
import { type Marked, type MarkOptions, mark, markOptionNames } from './mark.ts';

/** How to rewind. */
export interface RewindOptions extends MarkOptions {
  /** With `{ turn }`: only beliefs and contradictions of later turns leave the view. */
  readonly only?: EventGroup;
}

const rewindKeys: KnownKeys = optionKeys<RewindOptions>('rewind', { ...markOptionNames, only: 'text' });

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
  const selected = selectedTurn(point);
  checkOnly(options, selected !== undefined);
  if (selected !== undefined) {
    const head = await placeAtHead(engine, session, selected.branch);
    return mark(engine, { head, options }, async (place) => ({
      drafts: [await rewoundToTurn(engine, place, selected.turn, options.only)],
      more: {},
    }));
  }
  const { branch, at } = parsePoint(point);
  const { seq, record } = await placeAt(engine, session, branch, at);
  return mark(engine, { head: placeOn(session, record), options }, async () => ({
    drafts: [{ type: 'branch.rewound', data: { to: seq } }],
    more: {},
  }));
}

/** Refuses an `only` that would be ignored: everything would be rewound. */
function checkOnly({ only }: RewindOptions, isToTurn: boolean): void {
  if (only === undefined || (only === 'beliefs' && isToTurn)) return;
  const why =
    only === 'beliefs'
      ? 'a point has a whole view, and only { turn } selects events'
      : `${shownValue(only)} is not "beliefs"`;
  throw new RepriseError('option.invalid', `Cannot rewind with "only": ${why}`, {
    hint: 'Pass rewind({ turn }, { only: "beliefs" }), or leave "only" out.',
    details: { option: 'only' },
  });
}

/**
 * Returns the branch and turn of a point given as `{ turn }`, which selects events by their turn. `@turn:N` in a string
 * is a point instead, and so is an event given as a point, since it has a seq.
 */
export function selectedTurn(point: PointInput): { readonly branch: string; readonly turn: number } | undefined {
  if (typeof point !== 'object' || point === null || 'seq' in point || !('turn' in point)) return undefined;
  return { branch: point.branch ?? mainBranch, turn: checkTurn(point.turn) };
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
