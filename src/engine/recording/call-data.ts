import { given, isObject, stringAt } from '../../core/json.ts';
import type { NamedCall } from '../../core/recording/call-guard.ts';
import { type EffectClass, effectOf, isEffectClass } from '../../core/recording/effects.ts';
import { errorRecord } from '../../core/recording/error-record.ts';
import type { CallEnd, CallStart } from '../../core/recording/recorder.ts';
import { outcomeOf } from './ended-data.ts';
import type { ToldData } from './prepared-event.ts';

/** Returns the data of a `call.started`. */
export function callStartedData(start: NamedCall): ToldData {
  const { call, kind, name, annotations, input, about, node, request } = start;
  return { call, kind, name, effect: callEffect(start), annotations, input, about, node, request };
}

/** Returns the effect class of a call that is about to be made. */
export function callEffect({ kind, name, effect, annotations, input }: CallStart): EffectClass {
  return effectOf({
    kind,
    name,
    ...(isEffectClass(effect) ? { effect } : {}),
    ...(isObject(annotations) ? { annotations } : {}),
    ...given({ method: stringAt(input, 'method') }),
  });
}

/** The times measured around a call, in milliseconds. */
export interface CallTiming {
  readonly latencyMs: number;
  readonly firstTokenMs: number | undefined;
}

/** Returns the data of a `call.ended`. */
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

/** Drops the last digits of a clock: they are noise and cost bytes. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10;
