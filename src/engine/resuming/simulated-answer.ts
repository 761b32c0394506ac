import { messageOf, RepriseError } from '../../core/error.ts';
import { limits } from '../../core/limits.ts';
import type { NamedCall } from '../../core/recording/call-guard.ts';
import { errorRecord } from '../../core/recording/error-record.ts';
import { recordable } from '../../core/recording/recordable.ts';
import type { ReusedAnswer } from '../../core/recording/recorder.ts';
import type { SimulatedAfter, Simulation } from '../../core/recording/simulation.ts';
import type { Platform } from '../../core/store/platform.ts';

/** The timer and the signal that end a simulation which does not answer. */
export interface SimulationLimits {
  readonly platform: Pick<Platform, 'startTimer'>;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the answer of a simulation. Throws `simulation.failed` if it throws, takes too long, or returns no JSON. */
export async function simulatedAnswer(
  { name, input }: Pick<NamedCall, 'name' | 'input'>,
  { simulate }: Simulation,
  recorded: SimulatedAfter | undefined,
  bounds: SimulationLimits,
): Promise<ReusedAnswer> {
  if (typeof simulate !== 'function') return answer(name, simulate);
  // A copy, so that a simulation cannot change the arguments that are recorded.
  const asked = input === undefined ? undefined : structuredClone(input);
  let said: unknown;
  try {
    said = await within(bounds, async () => simulate(asked, recorded));
  } catch (error) {
    bounds.signal?.throwIfAborted();
    throw failure(name, messageOf(error), error);
  }
  return answer(name, said);
}

function answer(name: string, said: unknown): ReusedAnswer {
  if (said instanceof Error) return { outcome: 'error', output: undefined, error: errorRecord(said), simulated: true };
  if (typeof said === 'function' || typeof said === 'symbol') throw failure(name, `it returned a ${typeof said}`);
  try {
    return { outcome: 'ok', output: recordable(said).value ?? null, error: undefined, simulated: true };
  } catch (error) {
    throw failure(name, messageOf(error), error);
  }
}

/** Waits for a simulation, at most `simulationMsMax`, or until the run is stopped. */
function within({ platform, signal }: SimulationLimits, simulate: () => Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ms = limits.simulationMsMax;
    const cancel = platform.startTimer(ms, () => reject(new Error(`it did not answer within ${ms} ms`)));
    const stop = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    simulate()
      .then(resolve, reject)
      .finally(() => {
        cancel();
        signal?.removeEventListener('abort', stop);
      });
  });
}

function failure(name: string, why: string, cause?: unknown): RepriseError {
  return new RepriseError('simulation.failed', `Cannot simulate ${JSON.stringify(name)}: ${why}`, {
    hint: 'Return the answer as JSON, or return (not throw) an Error for a call that fails.',
    details: { name, limit: 'simulationMsMax' },
    cause,
  });
}
