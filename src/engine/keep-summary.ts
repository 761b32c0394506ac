import type { Event } from '../core/event.ts';
import { limits } from '../core/limits.ts';
import { summary } from '../projections/summary.ts';
import type { Engine } from './engine.ts';
import { keepAt } from './fold.ts';
import { placeAt } from './place.ts';

/**
 * Keeps the summary of a branch when a run ended in what was appended, or another thousand events are there: a listing
 * then reads a snapshot instead of a history. It is a chore: the append neither waits for it nor fails with it.
 */
export function keepSummary(engine: Engine, session: string, appended: readonly Event[]): void {
  const last = appended.at(-1);
  if (last === undefined || !isDue(appended)) return;
  const { branch } = last;
  engine.chores.add(`summary ${JSON.stringify([engine.namespace, session, branch])}`, async () => {
    await keepAt(engine, await placeAt(engine, session, branch, { kind: 'head' }), summary);
  });
}

function isDue(appended: readonly Event[]): boolean {
  const [first, last] = [appended[0], appended.at(-1)];
  if (first === undefined || last === undefined) return false;
  const crossed =
    Math.floor(last.seq / limits.summaryEventsMax) > Math.floor((first.seq - 1) / limits.summaryEventsMax);
  return crossed || appended.some((event) => event.type === 'run.ended');
}
