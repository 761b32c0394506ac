import { isObject, type JsonObject } from '../../core/json.ts';
import type { NamedCall } from '../../core/recording/call-guard.ts';
import { effectCallOf, effectOf } from '../../core/recording/effects.ts';
import { errorRecord } from '../../core/recording/error-record.ts';
import type { CallEnd, CallStart } from '../../core/recording/recorder.ts';
import { outcomeOf } from './ended-data.ts';
import type { ToldData } from './prepared-event.ts';

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

/** A clock's last digits are noise, and cost bytes. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10;
