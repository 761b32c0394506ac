import { RepriseError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import type { OnTurn } from '../../engine/forwarding/run-forward-options.ts';
import type { Context } from '../context.ts';
import { demoAgentName } from './agent-options.ts';

/** Returns the fleet to run forward: the one of that name in the configuration, or that of the demo. */
export async function chosenFleet(context: Context, wanted: string | undefined): Promise<OnTurn<unknown>> {
  const loaded = await context.config();
  const fleets = loaded?.config.fleets ?? {};
  const names = Object.keys(fleets);
  const name = wanted ?? (names.length === 1 ? names[0] : undefined);
  if (name !== undefined && Object.hasOwn(fleets, name)) return fleets[name] as OnTurn<unknown>;
  if (name === demoAgentName) return (await import('../demo/incident-fleet.ts')).incidentFleet;
  throw new RepriseError(
    'agent.not-found',
    name === undefined
      ? `Cannot choose a fleet: the configuration has ${names.length}, and --with names none`
      : `Cannot find fleet "${name}" in the configuration`,
    {
      hint: hintOf(name, names),
      details: { fleets: names },
    },
  );
}

/** Says how to name a fleet: the nearest one after a typo, all of them if none was named. */
function hintOf(name: string | undefined, names: readonly string[]): string {
  const near = name === undefined ? undefined : nearest(name, names);
  if (near !== undefined) return `Did you mean "${near}"?`;
  if (names.length > 0) return `Pass one of them with --with: ${names.join(', ')}.`;
  return 'Add one to "fleets" of reprise.config.ts: fleets: { name: { agent: fn } }.';
}
