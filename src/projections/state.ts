import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import { arrayAt, isObject, type JsonObject, type JsonValue, setKey } from '../core/json.ts';
import type { Seq } from '../core/point.ts';

/** A value under a key of an agent, with its version and the seq of the event that wrote it. */
export interface StateEntry {
  readonly value: JsonValue;
  readonly version: number;
  readonly seq: Seq;
}

/** Every key that has a value: by agent, then by key. */
export type State = Readonly<Record<string, Readonly<Record<string, StateEntry>>>>;

/**
 * The state of every agent: the last value that `state.committed` events of the view wrote under each key. A deleted key
 * is missing. An erased event no longer says which keys it wrote, so the values before it remain.
 *
 * @example
 * ```ts
 * await session.append({
 *   type: 'state.committed',
 *   data: { operations: [{ agent: 'support', key: 'plan', op: 'write', value: 'ask', version: 1 }] },
 * });
 * const { support } = await session.fold(state); // { plan: { value: 'ask', version: 1, seq: 8 } }
 * ```
 */
export const state: Projection<State> = shippedProjection({
  name: 'state',
  version: '1',
  history: 'view',
  types: ['state.committed'],
  initial: () => ({}),
  apply: (held, event) => {
    for (const operation of arrayAt(event.data, 'operations') ?? []) {
      if (isObject(operation)) operate(held, operation, event.seq);
    }
    return held;
  },
});

function operate(held: Record<string, Record<string, StateEntry>>, operation: JsonObject, seq: Seq): void {
  const agent = String(operation['agent'] ?? 'default');
  const key = String(operation['key']);
  const own = (Object.hasOwn(held, agent) ? held[agent] : undefined) ?? {};
  if (operation['op'] === 'delete') delete own[key];
  else setKey(own, key, { value: operation['value'] ?? null, version: Number(operation['version'] ?? 0), seq });
  if (Object.keys(own).length > 0) setKey(held, agent, own);
  else delete held[agent];
}
