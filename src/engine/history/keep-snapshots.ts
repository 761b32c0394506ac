import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { applyEvent, initialValue, valueText } from '../../core/event/projection.ts';
import { limits } from '../../core/limits.ts';
import { later, previous, seq } from '../../core/point.ts';
import { mainBranch } from '../../core/ref.ts';
import { conversation } from '../../projections/conversation.ts';
import { summary } from '../../projections/summary.ts';
import type { Engine } from '../context/engine.ts';
import type { RunningSummary } from '../context/running-summary.ts';
import { foldAt, keepAt } from './fold.ts';
import { keepValue } from './kept-value.ts';
import { digestAt, placeAt } from './place.ts';
import { snapshotKey } from './snapshot.ts';

/**
 * Keeps snapshots while a branch is written: its summary after each run and each thousand events, so that a listing
 * reads a snapshot instead of a history; and less often its conversation, so that a first look deep into a long history
 * does not begin at zero. It is a chore: the append neither waits for it nor fails with it. An import keeps summaries
 * alone: a conversation takes as much memory as its source, and that of a long source is too large to keep.
 */
export function keepSnapshots(
  engine: Engine,
  session: string,
  appended: readonly Event[],
  { isImport = false }: { readonly isImport?: boolean } = {},
): void {
  const [first, last] = [appended[0], appended.at(-1)];
  if (first === undefined || last === undefined) return;
  const { branch } = last;
  // Names hold no control characters, so a line break cannot be part of one.
  const name = `${engine.namespace}\n${session}\n${branch}`;
  goOn(engine.summaries, name, appended);
  const isCrossed = (every: number): boolean => Math.floor(last.seq / every) > Math.floor((first.seq - 1) / every);
  if (isCrossed(limits.summaryEventsMax) || appended.some((event) => event.type === 'run.ended'))
    engine.chores.add(`summary ${name}`, () => keepSummary(engine, { session, branch, name }));
  if (!isImport && isCrossed(limits.conversationEventsMax))
    engine.chores.add(`conversation ${name}`, async () => {
      await foldAt(engine, await placeAt(engine, session, branch, { kind: 'head' }), conversation);
    });
}

/** Folds the appended events into the running summary, unless others wrote in between or the view changed. */
function goOn(summaries: Map<string, RunningSummary>, name: string, appended: readonly Event[]): void {
  const [first, last] = [appended[0] as Event, appended.at(-1) as Event];
  const running = summaries.get(name) ?? atBeginning(summaries, name, first);
  // A repeated append returns the seqs of the first one.
  if (running === undefined || last.seq <= running.last.seq) return;
  if (first.seq !== later(running.last.seq, 1) || appended.some((event) => isStructural(event.type))) {
    summaries.delete(name);
    return;
  }
  try {
    for (const event of appended) running.value = applyEvent(summary, running.value, event);
    running.last = { seq: last.seq, digest: last.digest };
  } catch {
    // An event of a newer release cannot be folded. It is stored, and a look at the summary reports it.
    summaries.delete(name);
  }
}

function atBeginning(
  summaries: Map<string, RunningSummary>,
  name: string,
  { seq: at, branch, digest }: Event,
): RunningSummary | undefined {
  if (at !== 1 || branch !== mainBranch) return undefined;
  const last = { seq: previous(at), digest };
  const running = { last, value: initialValue(summary), anchor: digest, erasures: 0 };
  summaries.set(name, running);
  return running;
}

async function keepSummary(
  engine: Engine,
  { session, branch, name }: { readonly session: string; readonly branch: string; readonly name: string },
): Promise<void> {
  const key = await snapshotKey(engine, { session }, summary);
  const place = await placeAt(engine, session, branch, { kind: 'head' });
  const anchor = await digestAt(engine, { ...place, seq: seq(1) });
  const running = engine.summaries.get(name);
  if (key !== undefined && running?.erasures === key.erasures && running.anchor === anchor) {
    const { last, value } = running;
    const text = valueText(summary, value);
    return keepValue(engine, session, { ...key, branch, ...last }, text);
  }
  const value = await keepAt(engine, place, summary);
  const last = { seq: place.seq, digest: await digestAt(engine, place) };
  engine.summaries.set(name, { last, value, anchor, erasures: key?.erasures ?? 0 });
}
