import { RepriseError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import type { OnTurn } from '../../engine/fleet/run-forward-options.ts';
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
  const near = name === undefined ? undefined : nearest(name, names);
  throw new RepriseError(
    'agent.not-found',
    name === undefined
      ? 'Cannot choose a fleet: --with names none'
      : `Cannot find fleet "${name}" in the configuration`,
    {
      hint:
        near === undefined
          ? 'Add it to "fleets" of reprise.config.ts: fleets: { name: { agent: fn } }.'
          : `Did you mean "${near}"?`,
      details: { fleets: names },
    },
  );
}
