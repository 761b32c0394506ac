import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import { activeAt, agentsAt, always } from '../core/fleet/active.ts';
import type { Belief } from '../core/fleet/belief.ts';
import { addToFleet, emptyFleet, type FleetTable, fleetTypes } from '../core/fleet/fleet-table.ts';
import { type FleetTask, tasksAt } from '../core/fleet/fleet-task.ts';
import type { Registration } from '../core/fleet/registration.ts';

/** The agents and tasks of a fleet. */
export interface Fleet {
  readonly agents: readonly Registration[];
  readonly tasks: readonly FleetTask[];
}

const folded = {
  version: '1',
  history: 'view',
  types: fleetTypes,
  initial: emptyFleet,
  apply: addToFleet,
} as const;

/** Everything about a fleet in one table, which answers for every turn. */
export const fleetTable: Projection<FleetTable> = shippedProjection({ name: 'fleet', ...folded });

/**
 * The agents of a fleet, with scope and trust, and its tasks: those of the view, whatever their turn.
 * `session.at({ story }).fleet` looks at a turn.
 *
 * @example
 * ```ts
 * await session.spawn('db', { scope: ['database'] });
 * const { agents, tasks } = await session.fold(fleet);
 * ```
 */
export const fleet: Projection<FleetTable, Fleet> = shippedProjection({
  name: 'fleet',
  ...folded,
  finish: (table) => ({ agents: agentsAt(table, always), tasks: tasksAt(table.tasks, always) }),
});

/**
 * The claims that stand in a view: committed, and superseded by none in it. `session.at({ story }).beliefs` looks at a turn,
 * and through an agent's eyes.
 *
 * @example
 * ```ts
 * await session.beliefs.commit({ agent: 'triage', topic: 'diagnosis', kind: 'decision', claim: 'a bad deploy' });
 * const [{ claim, agent }] = await session.fold(beliefs);
 * ```
 */
export const beliefs: Projection<FleetTable, readonly Belief[]> = shippedProjection({
  name: 'beliefs',
  ...folded,
  finish: (table) => activeAt(table, always),
});
