import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { Sameness } from '../../core/masking/same-value.ts';
import type { NamedCall } from '../../core/recording/call-guard.ts';
import { callStartedData } from '../recording/call-data.ts';
import { prepareEvent } from '../recording/prepared-event.ts';
import type { RecordOptions } from '../recording/record-options.ts';
import { callKey, isWithheld, type KnownCall } from './known-call.ts';

/** How arguments are masked, and compared with masked ones. */
export interface Comparing {
  readonly mask?: RecordOptions['mask'] | undefined;
  readonly compare: (stored: JsonValue | undefined, fresh: JsonValue | undefined) => Sameness;
}

/**
 * A call that an agent asks for, to be compared with the calls of the record. Those may have masks in place of secrets,
 * even where this recorder would not mask them: which values it knows depends on what it has seen.
 */
export class AskedCall {
  /** A key that calls of this process with the same name and arguments share. It has secrets and is never stored. */
  readonly key: string;
  readonly name: string;
  readonly #storedKey: string;
  readonly #plain: JsonObject;
  readonly #compare: Comparing['compare'];

  constructor(start: NamedCall, { mask, compare }: Comparing) {
    const stored = dataOf(start, mask);
    const plain = mask === undefined || isWithheld(stored) ? stored : dataOf(start, undefined);
    this.key = callKey(plain);
    this.name = start.name;
    this.#storedKey = callKey(stored);
    this.#plain = plain;
    this.#compare = compare;
  }

  /** Returns how far a known call is the same call, whichever of several equal ones it is. */
  compare({ key, masked }: Pick<KnownCall, 'key' | 'masked'>): Sameness {
    if (key === this.key || key === this.#storedKey) return 'same';
    if (masked === undefined) return 'different';
    const name = this.#compare(masked.name, this.#plain['name']);
    if (name === 'different') return name;
    const input = this.#compare(masked.input, this.#plain['input']);
    return input === 'same' ? name : input;
  }

  /** Returns the same calls of a list, in order. A call that may or may not be the same counts, and is in doubt. */
  in<Call extends KnownCall>(calls: readonly Call[]): Call[] {
    return calls.flatMap((known) => {
      const sameness = this.compare(known);
      if (sameness === 'unknown') return [{ ...known, hasOtherKey: true }];
      return sameness === 'same' ? [known] : [];
    });
  }
}

/** Returns the data of a `call.started` as it would be stored, without the request of a model. */
function dataOf(start: NamedCall, mask: RecordOptions['mask']): JsonObject {
  const told = { type: 'call.started', id: '', time: '', data: { ...callStartedData(start), request: undefined } };
  return prepareEvent(told, mask).draft.data;
}
