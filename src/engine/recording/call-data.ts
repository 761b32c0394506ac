import { canonicalJson } from '../../core/canonical-json.ts';
import { specOf } from '../../core/event/catalogue.ts';
import type { Outcome } from '../../core/event/event.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { effectCallOf, effectOf } from '../../core/recording/effects.ts';
import { errorRecord, outcomeOfError } from '../../core/recording/error-record.ts';
import type { CallEnd, CallStart } from '../../core/recording/recorder.ts';

/** Data as it is told: it is turned into JSON before it is stored. */
export type ToldData = Readonly<Record<string, unknown>>;

/** A call that is being recorded. */
export type NamedCall = CallStart & { readonly call: string };

/** The data of a `call.started`. */
export function callStartedData(start: NamedCall): ToldData {
  const { call, kind, name, annotations, input, request } = start;
  return { call, kind, name, effect: callEffect(start), annotations, input, request };
}

/** The effect class of a call that is about to be made. */
export function callEffect({ kind, name, effect, annotations, input }: CallStart): ReturnType<typeof effectOf> {
  const told = { kind, name, effect, annotations, input: isObject(input) ? { method: input['method'] } : undefined };
  return effectOf(effectCallOf(told as unknown as JsonObject));
}

/** What was measured around a call, in milliseconds. */
export interface CallTiming {
  readonly latencyMs: number;
  readonly firstTokenMs: number | undefined;
}

/** The data of a `call.ended`. */
export function callEndedData({ call, kind, name }: NamedCall, end: CallEnd, timing: CallTiming): ToldData {
  const { output, message, finishReason, error, usage, cost, attempts, provider } = end;
  return {
    call,
    kind,
    name,
    outcome: outcomeOf(end),
    output,
    message,
    finishReason,
    error: error === undefined ? undefined : errorRecord(error),
    usage,
    cost,
    latencyMs: rounded(timing.latencyMs),
    firstTokenMs: timing.firstTokenMs === undefined ? undefined : rounded(timing.firstTokenMs),
    attempts,
    provider,
  };
}

/** How something ended: as it was said, else by its error. */
export function outcomeOf({ outcome, error }: { readonly outcome?: Outcome; readonly error?: unknown }): Outcome {
  return outcome ?? (error === undefined ? 'ok' : outcomeOfError(error));
}

/** The data of a `run.ended`, and of all but the id of a `task.ended`. A result that is not JSON is not recorded. */
export function endedData(end: {
  readonly outcome?: Outcome;
  readonly result?: unknown;
  readonly error?: unknown;
}): ToldData {
  return {
    outcome: outcomeOf(end),
    result: jsonOrNothing(end.result),
    error: end.error === undefined ? undefined : errorRecord(end.error),
  };
}

function jsonOrNothing(value: unknown): unknown {
  try {
    return value === undefined || canonicalJson(value) === '' ? undefined : value;
  } catch {
    return undefined;
  }
}

/** A clock's last digits are noise, and cost bytes. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10;

/** Fields of which each value is an id or one of a few words: they say nothing that would have to be hidden. */
const plainFields: ReadonlySet<string> = new Set([
  'call',
  'task',
  'kind',
  'outcome',
  'effect',
  'latencyMs',
  'attempts',
]);
const keptUnitsMax = 1_000;

/**
 * What is recorded in place of data that cannot be: what its type must have, as far as it is short, and a note of why.
 * With `secret`, only ids and words of ours are kept.
 */
export function withheldData(type: string, data: ToldData, note: string, secret = false): JsonObject {
  const kept: Record<string, JsonValue> = { notRecorded: note };
  for (const [name, field] of Object.entries(specOf(type)?.fields ?? {})) {
    const value = data[name];
    const isKept = isShort(value) && (field.required || plainFields.has(name)) && (!secret || plainFields.has(name));
    if (isKept) kept[name] = value;
    else if (field.required) kept[name] = placeholder(field.type, value, note);
  }
  return kept;
}

const isShort = (value: unknown): value is string | number | boolean =>
  (typeof value === 'string' && value.length <= keptUnitsMax) ||
  typeof value === 'number' ||
  typeof value === 'boolean';

const roles: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

function placeholder(type: string, value: unknown, note: string): JsonValue {
  if (type === 'array') return [];
  if (type === 'number') return 0;
  if (type !== 'object') return `[${note}]`;
  const role = isObject(value) ? value['role'] : undefined;
  return roles.has(role) ? { role: role as string, content: `[${note}]` } : {};
}
