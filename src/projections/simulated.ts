import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import { stringAt } from '../core/json.ts';
import type { Seq } from '../core/point.ts';

/** A call that a simulation answered. */
export interface SimulatedCall {
  /** The seq of its end. */
  readonly seq: Seq;
  readonly call: string | null;
  readonly kind: string | null;
  readonly name: string | null;
}

/** The calls that were not made: simulations answered them. */
export interface Simulated {
  readonly calls: readonly SimulatedCall[];
}

/**
 * The calls that simulations answered, in order.
 *
 * @example
 * ```ts
 * const { calls } = await session.fold(simulated); // []: every call of the story was made
 * ```
 */
export const simulated: Projection<{ readonly calls: SimulatedCall[] }, Simulated> = shippedProjection({
  name: 'simulated',
  version: '1',
  history: 'view',
  types: ['call.ended'],
  without: ['request', 'response', 'input', 'output', 'message'],
  initial: () => ({ calls: [] }),
  apply: (state, { seq, type, data }) => {
    if (type !== 'call.ended' || data['simulated'] !== true) return state;
    const named = { call: stringAt(data, 'call') ?? null, kind: stringAt(data, 'kind') ?? null };
    state.calls.push({ seq, ...named, name: stringAt(data, 'name') ?? null });
    return state;
  },
});
