import type { Event } from '../core/event/event.ts';
import type { Projection } from '../core/event/projection.ts';
import { isObject, type JsonObject, type JsonValue, setKey } from '../core/json.ts';
import type { Seq } from '../core/point.ts';

/** A value an agent wrote under a key, with its stored version and the seq of the event that wrote it. */
export interface StateEntry {
  readonly value: JsonValue;
  readonly version: number;
  readonly seq: Seq;
}

/** Every key that has a value: by agent, then by key. */
export type State = Readonly<Record<string, Readonly<Record<string, StateEntry>>>>;

/**
 * The state of every agent: what the `state.committed` events of the view wrote last under each key. A deleted key is
 * not there. What an erased event wrote is not known any more, not even to which key: the value before it stands.
 *
 * @example
 * ```ts
 * await session.append({
 *   type: 'state.committed',
 *   data: { operations: [{ agent: 'support', key: 'plan', op: 'write', value: 'ask', version: 1 }] },
 * });
 * const { support } = await session.stateAt('main', state); // { plan: { value: 'ask', version: 1, seq: 8 } }
 * ```
 */
export const state: Projection<State> = {
  name: 'state',
  version: '1',
  history: 'view',
  types: ['state.committed'],
  initial: () => ({}),
  apply: (held, event) => {
    if (!Array.isArray(event.data['operations'])) return held;
    for (const operation of event.data['operations'] as readonly JsonValue[]) {
      if (isObject(operation)) operate(held as Record<string, Record<string, StateEntry>>, operation, event);
    }
    return held;
  },
};

function operate(held: Record<string, Record<string, StateEntry>>, operation: JsonObject, { seq }: Event): void {
  const agent = String(operation['agent'] ?? 'default');
  const key = String(operation['key']);
  const own = Object.hasOwn(held, agent) ? (held[agent] as Record<string, StateEntry>) : {};
  if (operation['op'] === 'delete') delete own[key];
  else setKey(own, key, { value: operation['value'] ?? null, version: Number(operation['version'] ?? 0), seq });
  if (Object.keys(own).length > 0) setKey(held, agent, own);
  else delete held[agent];
}
