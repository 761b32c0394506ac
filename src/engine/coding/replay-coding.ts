import { type Coding, codingOf } from '../../core/coding/coding.ts';
import type { CodingBook, RequestEntry } from '../../core/coding/coding-book.ts';
import { type CodingDiff, diffCoding } from '../../core/coding/coding-diff.ts';
import { type CodingContext, defaultCounter } from '../../core/coding/context.ts';
import {
  checkOutputTokens,
  type PreparedRequest,
  type RequestArguments,
  requestArgumentsIn,
  requestOf,
} from '../../core/coding/prepared-request.ts';
import type { CodingReceipt } from '../../core/coding/receipt.ts';
import type { StateRecord } from '../../core/coding/record.ts';
import { RepriseError } from '../../core/error.ts';
import { given, objectAt } from '../../core/json.ts';
import { type KnownKeys, type OptionKind, optionKeys } from '../../core/known-keys.ts';
import type { Digest, Point, Seq } from '../../core/point.ts';
import { codingBook } from '../../projections/coding.ts';
import type { Engine } from '../context/engine.ts';
import { fold } from '../history/fold.ts';
import { type Place, pointOf } from '../history/place.ts';
import { eventInView, type Sight, sightAt, sightOf } from '../history/sight.ts';
import { hypothesisFor } from '../looking/fold-options.ts';
import { bookAt, budgetAt, type ContextOptions, contextOptionNames, receiptIn, snapshotIn } from './coding-look.ts';
import { providerCountAt } from './provider-count.ts';

/** How to replay a coding session. Options that are left out are those that the log captured last, at that point. */
export interface CodingReplayOptions extends ContextOptions {
  /** Whether the request is built; if left out, it is built where its arguments are known. */
  readonly prepareRequest?: boolean;
  readonly model?: string;
  readonly instructions?: string;
  readonly input?: string;
  readonly maxOutputTokens?: number;
}

/** Everything that a coding session knew at a point, rebuilt from the log. */
export interface CodingReplay {
  readonly point: Point;
  readonly projection: Coding;
  readonly records: readonly StateRecord[];
  readonly context: CodingContext;
  readonly snapshotHash: Digest;
  readonly receipt: CodingReceipt;
  /** The payloads of the request; null if it was not asked for, or its arguments are unknown. */
  readonly request: PreparedRequest | null;
}

/** A replay without some events, and how it differs from the real one. */
export interface CodingCounterfactual extends CodingReplay {
  /** Every seq that was left out: those named and those that went with them. */
  readonly excluded: readonly Seq[];
  /** Seqs that depend on them and stayed; empty with `cascade`. */
  readonly dependents: readonly Seq[];
  readonly diff: CodingDiff;
}

/** Which events to leave out of a replay, and where it ends. */
export interface CodingCounterfactualOptions extends CodingReplayOptions {
  /** The events to leave out, by seq or id. */
  readonly exclude: readonly (number | string)[];
  /** Leaves out every event that depends on them, too. */
  readonly cascade?: boolean;
  /** The run to replay up to its end; the head of the branch if left out. */
  readonly run?: string;
}

/** The names of the options of a replay. */
export const replayNames: Readonly<Record<keyof CodingReplayOptions, true | OptionKind>> = {
  ...contextOptionNames,
  prepareRequest: 'flag',
  model: 'text',
  instructions: 'text',
  input: 'text',
  maxOutputTokens: true,
};

/** The options that `replayRun` takes. */
export const codingReplayKeys: KnownKeys = optionKeys<CodingReplayOptions>('replay a run', replayNames, 'a replay');

/** The options that `replayCounterfactual` takes. */
export const codingCounterfactualKeys: KnownKeys = optionKeys<CodingCounterfactualOptions>(
  'replay without some events',
  { ...replayNames, exclude: true, cascade: 'flag', run: 'text' },
  'a counterfactual replay',
);

/** Rebuilds everything that a coding session knew at a place. Appends nothing. */
export async function replayCoding(
  engine: Engine,
  place: Place,
  options: CodingReplayOptions,
  run?: string,
): Promise<CodingReplay> {
  const book = await bookAt(engine, place);
  const sight = sightAt(engine, place);
  return replayOf(engine, place, { book, options, sight, isActual: true, ...given({ run }) });
}

/** Rebuilds what it would have known without some events, and compares. Appends nothing. */
export async function replayWithout(
  engine: Engine,
  place: Place,
  options: CodingCounterfactualOptions,
): Promise<CodingCounterfactual> {
  const { exclude, cascade, run, ...replaying } = options;
  if (!Array.isArray(exclude) || exclude.length === 0)
    throw new RepriseError('option.invalid', 'Cannot replay without some events: "exclude" names none', {
      hint: 'Pass a list of seqs or ids, even for one: exclude: [4].',
    });
  const { hypothesis, excluded } = await hypothesisFor(engine, place, { exclude, ...given({ cascade }) });
  const sight = sightOf(engine, hypothesis);
  const book = await fold(sight, codingBook);
  const actual = codingOf(await bookAt(engine, place));
  const replay = await replayOf(engine, place, {
    book,
    options: replaying,
    sight,
    isActual: false,
    ...given({ run }),
  });
  const { seqs, dependents } = excluded;
  return { ...replay, excluded: seqs, dependents, diff: diffCoding(actual, replay.projection) };
}

interface Replaying {
  readonly book: CodingBook;
  readonly options: CodingReplayOptions;
  /** The view that the book was folded from. */
  readonly sight: Sight;
  /** Whether the book is that of the log, without anything left out. */
  readonly isActual: boolean;
  readonly run?: string;
}

async function replayOf(
  engine: Engine,
  place: Place,
  { book, options, sight, isActual, run }: Replaying,
): Promise<CodingReplay> {
  const captured = await argumentsOf(sight, capturedIn(book, run));
  const currentGoal = options.currentGoal ?? captured.currentGoal;
  const counter = counterFor(options, captured.counter);
  const budgetTokens = options.budgetTokens ?? captured.budgetTokens ?? (await budgetAt(engine, place));
  const snapshot = await snapshotIn({ engine, session: place.session }, book, {
    budgetTokens,
    counter,
    ...given({ currentGoal }),
  });
  const count = isActual ? await providerCountAt(sight, place, book, counter) : null;
  return {
    point: pointOf(place),
    projection: codingOf(book),
    records: snapshot.records,
    context: snapshot.context,
    snapshotHash: snapshot.hash,
    receipt: receiptIn(engine, book, snapshot, count),
    request: requestFor(snapshot.context.text, captured, options),
  };
}

/** Returns the last request of a run; of any run if none is named. */
function capturedIn({ requests }: CodingBook, run: string | undefined): RequestEntry | undefined {
  return run === undefined ? Object.values(requests).at(-1) : requests[`r:${run}`];
}

/** Reads the arguments of a prepared request from its event. */
async function argumentsOf(sight: Sight, entry: RequestEntry | undefined): Promise<Partial<RequestArguments>> {
  return entry === undefined ? {} : requestArgumentsIn(objectAt((await eventInView(sight, entry.seq)).data, 'request'));
}

/** Returns the counter to use. One that only the log names cannot be called, and a different one would count wrongly. */
function counterFor(
  { counter }: CodingReplayOptions,
  named: string | undefined,
): NonNullable<ContextOptions['counter']> {
  if (counter !== undefined) return counter;
  if (named === undefined || named === defaultCounter.name) return defaultCounter;
  throw new RepriseError(
    'option.invalid',
    `Cannot count tokens: the log was counted with "${named}", and that counter was not given`,
    {
      hint: `Pass counter: { name: ${JSON.stringify(named)}, count }, or a different one on purpose.`,
      details: { counter: named },
    },
  );
}

function requestFor(
  context: string,
  captured: Partial<RequestArguments>,
  options: CodingReplayOptions,
): PreparedRequest | null {
  if (options.prepareRequest === false) return null;
  const { model = captured.model, input = captured.input, instructions = captured.instructions } = options;
  const maxOutputTokens = checkOutputTokens(options.maxOutputTokens) ?? captured.maxOutputTokens;
  if (model !== undefined && input !== undefined)
    return requestOf(context, { model, input, ...given({ instructions, maxOutputTokens }) });
  if (options.prepareRequest !== true) return null;
  const missing = [model === undefined ? 'a model' : '', input === undefined ? 'an input' : ''].filter(
    (part) => part !== '',
  );
  throw new RepriseError(
    'request.incomplete',
    `Cannot build a request: it needs ${missing.join(' and ')}, and the log captured no request with it`,
    {
      hint: 'Pass model and input, or record the request with prepareRequest first.',
    },
  );
}
