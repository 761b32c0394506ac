import type { Outcome } from '../../core/event/event.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { holdsMask } from '../../core/masking/mask.ts';
import type { Seq } from '../../core/point.ts';
import { effectKey } from '../../core/recording/effects.ts';
import type { ReusedAnswer } from '../../core/recording/recorder.ts';

/** The name and the arguments of a call, as they are stored. */
export interface MaskedCall {
  readonly name: JsonValue | undefined;
  readonly input: JsonValue | undefined;
}

/** A call that may have had an effect: from the record, or from a parallel run. */
export interface KnownCall {
  readonly branch: string;
  readonly seq: Seq | undefined;
  readonly call: string;
  readonly name: string;
  /** A key that calls with the same name and equal arguments share. */
  readonly key: string;
  /** Its name and arguments, if a secret in them is masked: then the key of an equal call may be a different one. */
  readonly masked: MaskedCall | undefined;
  /** Its outcome; undefined while it is unknown. */
  outcome: Outcome | undefined;
  /** Reads its answer, once it has ended. */
  answer: () => Promise<ReusedAnswer>;
  /** Whether its arguments or its answer could not be recorded: it happened, but cannot replace a new call. */
  isWithheld?: boolean;
  /** Whether it cannot be told if it is the call in question: its arguments were masked with a different key. */
  readonly hasOtherKey?: boolean;
  /** For a call that is being made now: resolves when it has ended. */
  readonly settled?: Promise<void>;
}

/** Returns the key that equal calls share, from the stored data of a `call.started`. */
export function callKey(started: JsonObject): string {
  return effectKey(String(started['name']), isWithheld(started) ? { notRecorded: true } : started['input'], 0);
}

/** Returns true if a note replaces the data of an event. */
export const isWithheld = (data: JsonObject): boolean => data['notRecorded'] !== undefined;

/** Returns the name and the arguments of a stored call, if a mask is in them. */
export function maskedCall({ name, input }: JsonObject): MaskedCall | undefined {
  return holdsMask(name) || holdsMask(input) ? { name, input } : undefined;
}
