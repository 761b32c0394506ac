import { canonicalJson } from '../../core/canonical-json.ts';
import { parseVariants, type Variant } from '../../core/comparing/variants.ts';
import { assert, messageOf, RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import { itemAt } from '../../core/item-at.ts';
import { given } from '../../core/json.ts';
import { spend } from '../../core/recording/spending.ts';
import { refText } from '../../core/ref.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { type Place, pointOf, sessionRecord, sessionRecords } from '../history/place.ts';
import { BudgetAccount } from '../resuming/budget-guard.ts';
import { EffectLedger } from '../resuming/effect-ledger.ts';
import { asResumable } from '../resuming/resume-run.ts';
import {
  agentOf,
  checkCounts,
  checkExperiment,
  type ExperimentOptions,
  type ExperimentSetOptions,
} from './experiment-options.ts';
import { checkSetPoint, type SetPoint, setPlace } from './experiment-place.ts';
import { type ExperimentReceipt, experimentNotFound, finishedRows, receiptsOf, rowKey } from './experiment-receipt.ts';
import type {
  ExperimentProgress,
  ExperimentResult,
  ExperimentRow,
  ExperimentSession,
  ExperimentSetResult,
} from './experiment-result.ts';
import { summarize } from './experiment-summary.ts';
import { type Bench, runTrial, type Trial } from './experiment-trial.ts';

/** Runs several variants from one place, each as often as asked for, and compares them. */
export async function experiment<Run, Result>(
  engine: Engine,
  place: Place,
  options: ExperimentOptions<Run, Result>,
): Promise<ExperimentResult> {
  const variants = checkedVariants(options, 1, false);
  const { session } = place;
  const result = await runAll(engine, { places: [{ session, place }], variants, at: pointOf(place), options });
  const [only] = result.sessions;
  assert(only?.point !== undefined && only.point !== null, 'an experiment on one session has its point');
  return { ...result, session, point: only.point, original: only.original };
}

/** Runs several variants on many sessions, each from its own point, and compares them session by session. */
export async function experimentSet<Run, Result>(
  engine: Engine,
  options: ExperimentSetOptions<Run, Result>,
): Promise<ExperimentSetResult> {
  checkExperiment(options, true);
  const sessions = [...new Set(options.sessions)].map((session) => checkId('session', session));
  const variants = checkedVariants(options, sessions.length, true);
  const { at = 'first-user-message' } = options;
  checkSetPoint(at);
  const places: SetPlace[] = [];
  for (const session of sessions) places.push(await placeOf(engine, session, at));
  return runAll(engine, { places, variants, at, options });
}

function checkedVariants<Run, Result>(
  options: ExperimentOptions<Run, Result>,
  sessions: number,
  isSet: boolean,
): readonly Variant[] {
  checkExperiment(options, isSet);
  const { variants } = parseVariants({ variants: options.variants });
  checkCounts(variants, sessions, options as ExperimentOptions);
  for (const variant of variants) asResumable(agentOf(variant, options));
  return variants;
}

/** A session and the point it starts from, or why it has none. */
interface SetPlace {
  readonly session: string;
  readonly place?: Place;
  readonly error?: unknown;
}

/** A session that is gone, or that lacks the point, does not stop the others. */
async function placeOf(engine: Engine, session: string, at: SetPoint): Promise<SetPlace> {
  try {
    await sessionRecord(engine, session);
    return { session, place: await setPlace(engine, session, at) };
  } catch (error) {
    return { session, error };
  }
}

interface Planned<Run, Result> {
  readonly places: readonly SetPlace[];
  readonly variants: readonly Variant[];
  /** The point or points that the experiment starts from, for the digest of its plan. */
  readonly at: unknown;
  readonly options: ExperimentOptions<Run, Result>;
}

/** Runs every branch that has no result yet. */
async function runAll<Run, Result>(engine: Engine, planned: Planned<Run, Result>): Promise<ExperimentSetResult> {
  const { places, variants, options } = planned;
  const { repeats = 1, parallel = 2 } = options;
  const found = places.filter((held) => held.place !== undefined).length;
  const id = options.continue ?? engine.platform.newId().slice(-12);
  const total = found * variants.length * repeats;
  const plan = engine.platform.sha256(canonicalJson(JSON.parse(JSON.stringify([variants, planned.at])) as unknown));
  const receipts = await receiptsBefore(engine, planned, { id, plan });
  const done = finishedRows(receipts);
  const trials = await planTrials(engine, planned, { id, plan, total });
  const bench = { engine, options, total: spentAccount(options, [...done.values()]) };
  const rows = await inParallel(bench, { trials, done, parallel });
  const names = variants.map(({ name }) => name);
  return { id, total, sessions: places.map(sessionOf), rows, variants: summarize(names, rows) };
}

function sessionOf({ session, place, error }: SetPlace): ExperimentSession {
  const branch = place?.record.branch;
  const original = refText({ session, ...given({ branch }), at: { kind: 'head' } });
  const point = place === undefined ? null : pointOf(place);
  if (error === undefined) return { session, point, original, error: null, errorCode: null };
  const code = error instanceof RepriseError ? error.code : null;
  return { session, point, original, error: messageOf(error), errorCode: code };
}

/** Reads what an earlier run of the experiment has done; refuses to continue one that tried something else. */
async function receiptsBefore<Run, Result>(
  engine: Engine,
  { places, options }: Planned<Run, Result>,
  { id, plan }: { readonly id: string; readonly plan: string },
): Promise<readonly ExperimentReceipt[]> {
  if (options.continue === undefined) return [];
  const receipts: ExperimentReceipt[] = [];
  for (const { session, place } of places)
    if (place !== undefined) receipts.push(...(await receiptsOf(engine, session, id)));
  if (receipts.length === 0) throw experimentNotFound(id, 'these sessions');
  if (receipts.every((receipt) => receipt.plan === plan)) return receipts;
  throw new RepriseError('experiment.changed', `Cannot continue experiment "${id}": its variants or its point differ`, {
    hint: 'Continue it with the variants and the point that it began with, or start a new one.',
    details: { id },
  });
}

/** Returns the budget of the whole, with what finished branches took from it. */
function spentAccount<Run, Result>(
  { budgetTotal = {} }: ExperimentOptions<Run, Result>,
  rows: readonly ExperimentRow[],
): BudgetAccount {
  const account = new BudgetAccount(budgetTotal);
  for (const { modelCalls, usage, cost, judge } of rows) {
    account.modelCalls += modelCalls + (judge?.modelCalls ?? 0);
    spend(account.spending, { kind: 'row', usage: { ...usage }, cost: (cost ?? 0) + (judge?.cost ?? 0) });
  }
  return account;
}

/**
 * Plans the branches and picks free names: `<variant>-<repeat>`, with a number at the end if an earlier experiment took
 * the name. Round by round, so that half of the rows already show every variant on every session.
 */
async function planTrials<Run, Result>(
  engine: Engine,
  { places, variants, options: { repeats = 1 } }: Planned<Run, Result>,
  about: Pick<ExperimentReceipt, 'id' | 'plan' | 'total'>,
): Promise<readonly Trial[]> {
  const benches: (Pick<Trial, 'place' | 'ledger'> & { readonly session: string; readonly taken: Set<string> })[] = [];
  for (const { session, place } of places) {
    if (place === undefined) continue;
    const taken = new Set((await engine.store.branches(sessionRef(engine, session))).map(({ branch }) => branch));
    benches.push({ session, place, ledger: new EffectLedger(engine, session), taken });
  }
  const names = variants.map(({ name }) => name);
  return Array.from({ length: repeats }, (_, round) =>
    benches.flatMap(({ session, place, ledger, taken }) =>
      variants.map((variant): Trial => {
        const branch = freeName(`${variant.name}-${round + 1}`, taken);
        const original = refText({ session, branch: place.record.branch, at: { kind: 'head' } });
        const where = { session, point: pointOf(place), original, branch };
        const what = { variants: names, variant: variant.name, repeat: round + 1, row: undefined };
        return { variant, place, ledger, receipt: { ...about, ...where, ...what } };
      }),
    ),
  ).flat();
}

function freeName(base: string, taken: Set<string>): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

interface Work {
  readonly trials: readonly Trial[];
  readonly done: ReadonlyMap<string, ExperimentRow>;
  readonly parallel: number;
}

/** Runs the branches that have no row yet, so many at a time, and returns all rows in the order of the plan. */
async function inParallel<Run, Result>(
  bench: Bench<Run, Result>,
  { trials, done: before, parallel }: Work,
): Promise<readonly ExperimentRow[]> {
  const { engine, options } = bench;
  const rows: (ExperimentRow | undefined)[] = trials.map(({ receipt }) => before.get(rowKey(receipt)));
  const open = [...trials.keys()].filter((index) => rows[index] === undefined).values();
  const began = engine.platform.elapsedMs();
  const total = trials.length;
  const earlier = rows.filter((row) => row !== undefined).length;
  let done = earlier;
  const leftMs = (): number | null =>
    done === earlier ? null : ((engine.platform.elapsedMs() - began) / (done - earlier)) * (total - done);
  const work = async (): Promise<void> => {
    for (const index of open) {
      const trial = itemAt(trials, index);
      const { id, session, variant, repeat } = trial.receipt;
      const told = { id, total, session, variant, repeat };
      tell(options, { ...told, done, leftMs: leftMs() });
      const row = await runTrial(bench, trial);
      rows[index] = row;
      done++;
      tell(options, { ...told, done, leftMs: leftMs(), row });
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, total) }, work));
  return rows.filter((row) => row !== undefined);
}

/** Reports progress; an error of the listener must not stop the experiment. */
function tell<Run, Result>({ onProgress }: ExperimentOptions<Run, Result>, progress: ExperimentProgress): void {
  try {
    onProgress?.(progress);
  } catch {
    // There is no one else to report it to.
  }
}

/** Rebuilds the result of an experiment from the receipts on its branches. Throws `experiment.not-found`. */
export async function findExperiment(engine: Engine, id: string): Promise<ExperimentSetResult> {
  const receipts: ExperimentReceipt[] = [];
  for await (const { session } of sessionRecords(engine)) {
    receipts.push(...(await receiptsOf(engine, session, id)));
    const finished = finishedRows(receipts).size;
    if (finished > 0 && finished >= Math.max(...receipts.map(({ total }) => total))) break;
  }
  const [first] = receipts;
  if (first === undefined) throw experimentNotFound(id, `namespace "${engine.namespace}"`);
  const order = ({ variant, repeat }: ExperimentRow): number =>
    repeat * first.variants.length + first.variants.indexOf(variant);
  // Of a branch that was stopped and run again, only the result counts; one that never ended has no row.
  const held = new Map(
    receipts.flatMap((receipt) => (receipt.row === undefined ? [] : [[rowKey(receipt), receipt.row]])),
  );
  for (const [key, row] of finishedRows(receipts)) held.set(key, row);
  const rows = [...held.values()].toSorted((a, b) => a.session.localeCompare(b.session) || order(a) - order(b));
  const sessions = [...new Map(receipts.map((receipt) => [receipt.session, receipt])).values()].map(
    ({ session, point, original }) => ({ session, point, original, error: null, errorCode: null }),
  );
  const total = Math.max(...receipts.map((receipt) => receipt.total));
  return { id, total, sessions, rows, variants: summarize(first.variants, rows) };
}
