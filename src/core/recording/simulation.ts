import { canonicalJson } from '../canonical-json.ts';
import { messageOf, RepriseError } from '../error.ts';
import type { Outcome } from '../event/event.ts';
import type { JsonValue } from '../json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../known-keys.ts';

/** A recorded call of the tool that is simulated: the equal call if there is one, else the last call of the tool. */
export interface SimulatedAfter {
  /** Where the call was made, as a ref. */
  readonly ref: string;
  /** Whether its arguments equal those of the simulated call. */
  readonly isEqual: boolean;
  readonly input: JsonValue | undefined;
  readonly outcome: Outcome;
  readonly output: JsonValue | undefined;
}

/**
 * Answers a call in place of its tool. It returns the output, or an `Error` for a call that fails. If it throws, the run
 * stops: a mistake in a simulation must not look like a failure of the tool.
 */
export type Simulate = (input: JsonValue | undefined, recorded: SimulatedAfter | undefined) => unknown;

/** The simulated answer of a tool: a function of the arguments, or the same JSON for every call. */
export interface Simulation {
  readonly simulate: Simulate | JsonValue;
}

const simulationKeys: KnownKeys = optionKeys<Simulation>('simulate', { simulate: true }, 'a simulation');

/** Returns true if a value is a simulation. */
export function isSimulation(value: unknown): value is Simulation {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, 'simulate');
}

/** Throws if a simulation has an unknown field, or an answer that is neither a function nor JSON. */
export function checkSimulation(path: string, simulation: Simulation): void {
  checkKeys(simulation, simulationKeys);
  const { simulate } = simulation;
  if (typeof simulate === 'function') return;
  try {
    canonicalJson(simulate);
  } catch (error) {
    throw new RepriseError('option.invalid', `Cannot use ${path}.simulate: ${messageOf(error)}`, {
      hint: 'Write a function of the arguments and the recorded call, or an answer in JSON.',
      details: { option: `${path}.simulate` },
      cause: error,
    });
  }
}
