import type { Event } from '../core/event.ts';
import { limits } from '../core/limits.ts';
import { conversation } from '../projections/conversation.ts';
import { summary } from '../projections/summary.ts';
import type { Engine } from './engine.ts';
import { foldAt, keepAt } from './fold.ts';
import { type Place, placeAt } from './place.ts';

/**
 * Keeps what most looks begin with while a branch is written: its summary when a run ended or another thousand events are
 * there, so that a listing reads a snapshot instead of a history, and less often its conversation, so that a first look
 * deep in a long history does not begin at zero. It is a chore: the append neither waits for it nor fails with it.
 */
export function keepSnapshots(engine: Engine, session: string, appended: readonly Event[]): void {
  const [first, last] = [appended[0], appended.at(-1)];
  if (first === undefined || last === undefined) return;
  const { branch } = last;
  const chore = (name: string, keep: (place: Place) => Promise<unknown>): void => {
    engine.chores.add(`${name} ${JSON.stringify([engine.namespace, session, branch])}`, async () => {
      await keep(await placeAt(engine, session, branch, { kind: 'head' }));
    });
  };
  const isCrossed = (every: number): boolean => Math.floor(last.seq / every) > Math.floor((first.seq - 1) / every);
  if (isCrossed(limits.summaryEventsMax) || appended.some((event) => event.type === 'run.ended'))
    chore('summary', (place) => keepAt(engine, place, summary));
  if (isCrossed(limits.conversationEventsMax)) chore('conversation', (place) => foldAt(engine, place, conversation));
}
