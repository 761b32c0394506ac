import { RepriseError } from '../../core/error.ts';
import type { Projection } from '../../core/event/projection.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { type Seq, seq } from '../../core/point.ts';
import type { EditOptions } from '../../core/view/edit.ts';
import { editOptionNames, editsOf } from '../../core/view/edit.ts';
import { branchOf, viewChanges } from '../../core/view/segment.ts';
import { entryOf, viewAt } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { type TakenOut, takeOut } from '../editing/dependents.ts';
import { resolveEdits } from '../editing/resolve-edits.ts';
import { fold } from '../history/fold.ts';
import { type Hypothesis, hypothesisAt, supposeAppended } from '../history/hypothesis.ts';
import type { Place } from '../history/place.ts';
import { sightOf } from '../history/sight.ts';

/** How to look at a projection. */
export interface FoldOptions extends EditOptions {
  /** Looks as if these events, by seq or id, had not happened. */
  readonly exclude?: readonly (number | string)[];
  /** With `exclude`: leaves out every event that depends on them, too. */
  readonly cascade?: boolean;
  /** Whether snapshots may be used and kept; they change nothing but time. */
  readonly snapshots?: boolean;
}

const lookKeys: KnownKeys = optionKeys<FoldOptions>('look', {
  ...editOptionNames,
  exclude: 'list',
  cascade: 'flag',
  snapshots: 'flag',
});

/**
 * Returns the result of a projection at a place, or the result it would have with edits or exclusions. Writes nothing.
 */
export async function foldWith<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  options: FoldOptions = {},
): Promise<Result> {
  const { hypothesis } = await hypothesisFor(engine, place, options);
  return fold(sightOf(engine, hypothesis), projection, options.snapshots);
}

/** Returns the hypothesis that options ask for: without the excluded events, and then edited. */
export async function hypothesisFor(
  engine: Engine,
  place: Place,
  options: Omit<FoldOptions, 'snapshots'>,
): Promise<{ readonly hypothesis: Hypothesis; readonly excluded: TakenOut }> {
  checkKeys(options, lookKeys);
  const { exclude = [], cascade } = options;
  if (!Array.isArray(exclude))
    throw new RepriseError('option.invalid', 'Cannot exclude events: "exclude" is not an array', {
      hint: 'Pass a list of seqs or ids, even for one: exclude: [4].',
    });
  const actual = hypothesisAt(place);
  const targets = await seqsOfEvents(engine, place, exclude);
  const [first] = targets;
  if (first === undefined) return edited(engine, actual, { seqs: [], dependents: [] }, options);
  const excluded = await takeOut(sightOf(engine, actual), targets, cascade === true);
  const without = { type: 'event.reverted', data: { target: first, seqs: excluded.seqs } };
  const supposed = await supposeAppended(engine, actual, [without]);
  return edited(engine, supposed.hypothesis, excluded, options);
}

/** Applies edits, and adds what they take out to what was taken out before. */
async function edited(
  engine: Engine,
  base: Hypothesis,
  excluded: TakenOut,
  options: EditOptions,
): Promise<{ readonly hypothesis: Hypothesis; readonly excluded: TakenOut }> {
  const edits = editsOf(options);
  if (edits.length === 0) return { hypothesis: base, excluded };
  const { hypothesis, dependents } = await resolveEdits(engine, base, edits);
  const view = viewAt(hypothesis.history, hypothesis.at);
  const { gone } = viewChanges(viewAt(base.history, base.at), view);
  const seqs = [...excluded.seqs, ...gone.filter((held) => entryOf(view, held) === undefined)];
  return { hypothesis, excluded: { seqs, dependents: [...excluded.dependents, ...dependents] } };
}

async function seqsOfEvents(engine: Engine, place: Place, events: readonly (number | string)[]): Promise<Seq[]> {
  const ids = events.filter((event) => typeof event === 'string');
  const found = ids.length === 0 ? undefined : await engine.store.locate(sessionRef(engine, place.session), ids);
  return events.map((event) => {
    if (typeof event !== 'string') return seq(event);
    const held = found?.get(event);
    if (held !== undefined && held.seq <= place.seq && branchOf(place.history, held.seq) === held.branch)
      return held.seq;
    throw new RepriseError(
      'event.not-found',
      held === undefined
        ? `Cannot exclude event "${event}": session "${place.session}" has no event of that id`
        : `Cannot exclude event "${event}": it is at ${held.branch}@${held.seq}, which does not lead to ${place.record.branch}@${place.seq}`,
      { hint: 'Name events that lead to the point, by seq or id.', details: { id: event } },
    );
  });
}
