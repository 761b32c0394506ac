import { type Coding, codingOf } from '../../core/coding/coding.ts';
import type { CodingBook } from '../../core/coding/coding-book.ts';
import { type CodingContext, contextOf, defaultCounter, type TokenCounter } from '../../core/coding/context.ts';
import { type CodingReceipt, type CodingSnapshot, receiptOf, snapshotOf } from '../../core/coding/receipt.ts';
import { recordsOf } from '../../core/coding/record.ts';
import { taintCheckOf } from '../../core/coding/taint.ts';
import { RepriseError } from '../../core/error.ts';
import { numberAt, objectAt } from '../../core/json.ts';
import { type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import { codingBook } from '../../projections/coding.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { foldAt } from '../history/fold.ts';
import { metadataAt } from '../history/metadata.ts';
import type { Place } from '../history/place.ts';

/** How to make a context. */
export interface ContextOptions {
  /** The goal of the moment; it comes before the recorded one. */
  readonly currentGoal?: string;
  /** The tokens that the context may take; that of `configure`, else 8,000, if left out. */
  readonly budgetTokens?: number;
  /** Counts tokens line by line; bytes divided by 4 if left out. */
  readonly counter?: TokenCounter;
}

/** The names of the options. */
export const contextOptionNames = { currentGoal: 'text', budgetTokens: true, counter: 'object' } as const;

/** The options that `contextAt` takes. */
export const contextKeys: KnownKeys = optionKeys<ContextOptions>('make a context', contextOptionNames, 'a context');

/** The budget of a session that was not configured. */
const budgetTokensDefault = 8_000;

/** Folds the book of a coding session at a place. */
export function bookAt(engine: Engine, place: Place): Promise<CodingBook> {
  return foldAt(engine, place, codingBook);
}

/** Returns the budget of a session as it was configured at a place. */
export async function budgetAt(engine: Engine, place: Place): Promise<number> {
  return numberAt(objectAt(await metadataAt(engine, place), 'coding'), 'budgetTokens') ?? budgetTokensDefault;
}

/** The session that a book is of. */
interface CodingPlace {
  readonly engine: Engine;
  readonly session: string;
}

/** The options of a context whose budget is known. */
type Budgeted = ContextOptions & { readonly budgetTokens: number };

/** Returns a book as records, and the context that shows them within a budget. */
async function shownIn(
  { engine, session }: CodingPlace,
  book: CodingBook,
  options: Budgeted,
): Promise<Pick<CodingSnapshot, 'records' | 'context'>> {
  const { currentGoal, budgetTokens, counter = defaultCounter } = options;
  checkContext(options);
  const records = recordsOf(book, currentGoal);
  const context = contextOf(records, {
    budgetTokens,
    counter: checkedCounter(counter),
    isTainted: taintCheckOf(book.risks.map(({ content }) => content)),
    setAside: await setAside(engine, session, book),
  });
  return { records: records.map(({ record }) => record), context };
}

/** Returns the seqs of events that risks set aside. A risk that was appended by hand may name its event by id alone. */
async function setAside(engine: Engine, session: string, { risks }: CodingBook): Promise<ReadonlySet<Seq>> {
  const seqs = new Set<Seq>();
  const ids: string[] = [];
  for (const { sets } of risks) {
    if (typeof sets === 'number') seqs.add(sets);
    else if (sets !== null) ids.push(sets);
  }
  const found = ids.length === 0 ? [] : (await engine.store.locate(sessionRef(engine, session), ids)).values();
  for (const { seq } of found) seqs.add(seq);
  return seqs;
}

/** Makes the snapshot of a book. */
export async function snapshotIn(where: CodingPlace, book: CodingBook, options: Budgeted): Promise<CodingSnapshot> {
  const { records, context } = await shownIn(where, book, options);
  return snapshotOf(where.engine.platform.sha256, records, context);
}

/** Returns a context without its snapshot. */
export async function contextAt(engine: Engine, place: Place, options: ContextOptions): Promise<CodingContext> {
  const budgetTokens = options.budgetTokens ?? (await budgetAt(engine, place));
  const where = { engine, session: place.session };
  return (await shownIn(where, await bookAt(engine, place), { ...options, budgetTokens })).context;
}

/** Makes the receipt of a snapshot. */
export function receiptIn(
  engine: Engine,
  book: CodingBook,
  snapshot: CodingSnapshot,
  providerCount: CodingReceipt['providerCount'],
): CodingReceipt {
  const { risks, dropped }: Coding = codingOf(book);
  return receiptOf(engine.platform.sha256, snapshot, { quarantined: risks, dropped, providerCount });
}

function checkContext({ budgetTokens, counter }: ContextOptions): void {
  if (budgetTokens !== undefined) checkBudget(budgetTokens);
  if (counter === undefined) return;
  if (typeof counter.name !== 'string' || counter.name === '' || typeof counter.count !== 'function')
    refuse('its counter has no name or no function', 'Pass { name, count: (line) => tokens }.');
}

/** Returns a counter that refuses an answer that is not a number of tokens: a sum with it would fit any budget. */
export function checkedCounter({ name, count }: TokenCounter): TokenCounter {
  return {
    name,
    count: (line) => {
      const tokens: unknown = count(line);
      if (typeof tokens === 'number' && tokens >= 0 && tokens < Number.POSITIVE_INFINITY) return tokens;
      return refuse(
        `its counter ${shownValue(name)} counts ${shownValue(tokens)} for a line`,
        'Let it return the number of tokens of the line.',
      );
    },
  };
}

/** Refuses a budget that is not a whole number from 0. */
export function checkBudget(budgetTokens: number): number {
  if (Number.isSafeInteger(budgetTokens) && budgetTokens >= 0) return budgetTokens;
  return refuse(`its budget is ${shownValue(budgetTokens)}`, 'It takes a whole number of tokens from 0.');
}

function refuse(why: string, hint: string): never {
  throw new RepriseError('option.invalid', `Cannot make a context: ${why}`, { hint });
}
