import { RepriseError } from '../../core/error.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { takeAsked } from '../../core/recording/asked-calls.ts';
import { currentRecorder, recorderHere } from '../../core/recording/current-recorder.ts';
import { agreedEffect, checkDeclared, declaredEffect, type EffectClass } from '../../core/recording/effects.ts';
import { Originals } from '../../core/recording/originals.ts';
import { recordable } from '../../core/recording/recordable.ts';
import type { Recorder } from '../../core/recording/recorder.ts';

/** How a function is recorded. */
export interface RecordFunctionOptions<Arguments extends readonly unknown[] = readonly unknown[]> {
  /** The name of the tool, as the model knows it. */
  readonly name: string;
  /** Its effect on the world; `unknown` if left out. */
  readonly effect?: EffectClass;
  /** Where it is recorded; where the code that calls it is, if left out, and in a resume of the same session. */
  readonly recorder?: Recorder;
  /** Says what of the arguments is the input of the call; the only one, or all of them, if left out. */
  readonly input?: (...args: Arguments) => unknown;
}

/** How a table of functions is recorded. */
export interface RecordToolsOptions {
  /** The effect of each on the world, by its name; `unknown` if left out. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
  /** Where they are recorded; where the code that calls them is, if left out, and in a resume of the same session. */
  readonly recorder?: Recorder;
}

const functionKeys: KnownKeys = optionKeys<RecordFunctionOptions & { effects?: unknown }>(
  'record the function',
  { name: true, effect: true, effects: true, recorder: true, input: true },
  'a recording',
);
const toolsKeys: KnownKeys = optionKeys<RecordToolsOptions>(
  'record the tools',
  { effects: true, recorder: true },
  'a recording',
);

/** Any function. */
export type AnyFunction = (...args: never[]) => unknown;

/** A function whose calls are recorded. It gives a promise of what the function gives. */
export type RecordedFunction<Run extends AnyFunction> = (...args: Parameters<Run>) => Promise<Awaited<ReturnType<Run>>>;

/** The functions behind those that record, and the effect class that each was declared with. */
const originals = new Originals<AnyFunction, EffectClass | undefined>();

/**
 * Makes any function a tool call: inside a run, what it is called with, what it gives and how it fails is recorded, under
 * the effect policy where the run is a resumed one. A call that a recorded client's model asked for is recorded as that
 * call. Outside of a run, and without a `recorder`, it is the plain function.
 *
 * @example
 * ```ts
 * const refund = recordFunction(async ({ order }: { order: number }) => ({ order, refunded: 50 }), {
 *   name: 'refund',
 *   effect: 'irreversible',
 * });
 * await using recorder = await session.record({ agent: 'support' });
 * const { refunded } = await recorder.run({ title: 'Refund of order 8' }, () => refund({ order: 8 }));
 * ```
 */
export function recordFunction<Run extends AnyFunction>(
  run: Run,
  options: RecordFunctionOptions<Parameters<Run>>,
): RecordedFunction<Run> {
  checkOptions(options);
  const { name, recorder: own, input: choose } = options;
  const effect = agreedEffect(options.effect, functionEffect(run));
  const original = originalFunction(run);
  const recorded = async (...args: Parameters<Run>): Promise<Awaited<ReturnType<Run>>> => {
    const call = async (): Promise<Awaited<ReturnType<Run>>> => (await original(...args)) as Awaited<ReturnType<Run>>;
    const recorder = own === undefined ? currentRecorder() : recorderHere(own);
    if (recorder === undefined) return call();
    const input = inputOf(choose === undefined ? chosenInput(args) : choose(...args));
    const asked = takeAsked(recorder, name, input);
    return recorder.call({ kind: 'tool', name, input, ...given({ call: asked, effect }) }, call);
  };
  originals.remember(recorded, original, effect);
  return recorded;
}

/**
 * Makes every function of a table a tool call by the name it has there.
 *
 * @example
 * ```ts
 * const tools = recordTools(
 *   { lookUp: async ({ order }: { order: number }) => ({ order, paid: 50 }) },
 *   { effects: { lookUp: 'pure' } },
 * );
 * await using recorder = await session.record({ agent: 'support' });
 * await recorder.run({ title: 'Order 8' }, () => tools.lookUp({ order: 8 }));
 * ```
 */
export function recordTools<Table extends Readonly<Record<string, AnyFunction>>>(
  table: Table,
  options: RecordToolsOptions = {},
): { readonly [Name in keyof Table]: RecordedFunction<Table[Name]> } {
  checkDeclared(options, toolsKeys);
  const { effects = {}, recorder } = options;
  const unknown = Object.keys(effects).find((name) => !Object.hasOwn(table, name));
  if (unknown !== undefined) throw noTool(unknown, Object.keys(table));
  const made = Object.entries(table).map(([name, run]) => [
    name,
    recordFunction(run, { name, ...given({ effect: declaredEffect(effects, name), recorder }) }),
  ]);
  return Object.fromEntries(made) as { readonly [Name in keyof Table]: RecordedFunction<Table[Name]> };
}

/** Returns the function itself, even of one that records. */
export function originalFunction<Run extends AnyFunction>(run: Run): Run {
  return originals.of(run);
}

/** Returns the effect class that a function was recorded with; undefined if none was declared. */
export function functionEffect(run: AnyFunction): EffectClass | undefined {
  return originals.factsOf(run);
}

function checkOptions(options: RecordFunctionOptions<never>): void {
  const { name, effect } = options;
  checkDeclared({ ...options, ...(effect === undefined ? {} : { effects: { [name]: effect } }) }, functionKeys);
  if (typeof name === 'string' && name !== '') return;
  throw new RepriseError(
    'option.invalid',
    `Cannot record a function under the name ${JSON.stringify(name) ?? 'undefined'}`,
    {
      hint: 'Give the name under which the model knows the tool.',
      details: { option: 'name' },
    },
  );
}

function noTool(name: string, names: readonly string[]): RepriseError {
  return new RepriseError('option.invalid', `Cannot record the tools: there is no ${JSON.stringify(name)} among them`, {
    hint: `The tools are ${names.join(', ')}.`,
    details: { option: `effects.${name}` },
  });
}

/**
 * The arguments as the input of a call: nothing is an empty object, one is itself, several are a list. Clients hand a tool
 * a context in addition to its arguments; that comes last, carries a signal or the call itself, and is not part of what
 * was asked.
 */
function chosenInput(args: readonly unknown[]): unknown {
  const [first] = args;
  const asked = args.slice(0, args.findLastIndex((value) => !isContext(value)) + 1);
  return asked.length > 1 ? asked : (first ?? {});
}

const signalKeys = ['signal', 'abortSignal', 'controller'] as const;
const callKeys = ['toolUse', 'toolUseBlock', 'toolCall', 'toolCallId'] as const;

function isContext(value: unknown): boolean {
  if (value === undefined || isSignal(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const held = value as Readonly<Record<string, unknown>>;
  return signalKeys.some((key) => isSignal(held[key])) || callKeys.some((key) => held[key] !== undefined);
}

const isSignal = (value: unknown): boolean => value instanceof AbortSignal || value instanceof AbortController;

/** Arguments as JSON; what is too large for any event is the recorder's to say. */
function inputOf(value: unknown): JsonValue {
  try {
    return recordable(value).value ?? {};
  } catch {
    return value as JsonValue;
  }
}
