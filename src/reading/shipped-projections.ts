import { RepriseError } from '../core/error.ts';
import type { Projection } from '../core/event/projection.ts';
import { nearest } from '../core/nearest.ts';
import type { Sha256 } from '../core/parts/digest.ts';
import { refText } from '../core/ref.ts';
import { activity } from '../projections/activity.ts';
import { coding } from '../projections/coding.ts';
import { conversation } from '../projections/conversation.ts';
import { eventIndex } from '../projections/event-index.ts';
import { fingerprintProjection } from '../projections/fingerprint.ts';
import { beliefs, fleet } from '../projections/fleet.ts';
import { graphState } from '../projections/graph-state.ts';
import { markers } from '../projections/markers.ts';
import { metadata } from '../projections/metadata.ts';
import { runs } from '../projections/runs.ts';
import { simulated } from '../projections/simulated.ts';
import { state } from '../projections/state.ts';
import { summary } from '../projections/summary.ts';
import { waiting } from '../projections/waiting.ts';
import type { OpenRef } from './open-ref.ts';

/** A projection that people can name. */
export interface NamedProjection {
  readonly name: string;
  readonly projection: Projection<unknown, unknown>;
  readonly about: string;
}

/** One projection, as `reprise projections --json` prints it. */
export interface ProjectionRow {
  readonly name: string;
  readonly version: string | null;
  readonly history: 'view' | 'raw';
  readonly about: string;
}

/** The value of a projection at a point, as `reprise fold --json` prints it. */
export interface FoldAnswer {
  readonly ref: string;
  readonly projection: string;
  readonly version: string | null;
  readonly value: unknown;
}

/** Lists the projections that can be named. */
export function shippedProjections(sha256: Sha256): readonly NamedProjection[] {
  return [
    {
      name: 'conversation',
      projection: conversation,
      about: 'the messages the model saw, its settings, and open calls',
    },
    { name: 'runs', projection: runs, about: 'runs › turns › calls with status, timing, tokens and cost' },
    { name: 'state', projection: state, about: 'the state agents wrote, by agent and key, with versions' },
    { name: 'coding', projection: coding, about: 'the goal, constraints, failing tests and changed files of coding' },
    { name: 'graph', projection: graphState, about: 'the state a graph (LangGraph) saved, by channel' },
    { name: 'summary', projection: summary, about: 'the facts "reprise list" shows' },
    { name: 'waiting', projection: waiting, about: 'the questions that wait for a person' },
    { name: 'simulated', projection: simulated, about: 'the calls that simulations answered' },
    { name: 'metadata', projection: metadata, about: 'the metadata of a branch' },
    {
      name: 'fingerprint',
      projection: fingerprintProjection(sha256),
      about: 'how a history behaved, as a single value',
    },
  ];
}

/** The projections that only screens read, such as the index of a history; users never name them. */
export const innerProjections: readonly Projection<unknown, unknown>[] = [
  eventIndex,
  markers,
  activity,
  fleet,
  beliefs,
] as readonly Projection<unknown, unknown>[];

/** Finds a projection by name; the error for a misspelled name suggests the closest one. */
export function projectionNamed(name: string, sha256: Sha256): NamedProjection {
  const known = shippedProjections(sha256);
  const found = known.find((held) => held.name === name);
  if (found !== undefined) return found;
  const names = known.map((held) => held.name);
  const near = nearest(name, names);
  throw new RepriseError('projection.invalid', `Cannot find the projection ${JSON.stringify(name)}`, {
    hint: near === undefined ? `The projections are ${names.join(', ')}.` : `Did you mean "${near}"?`,
  });
}

/** Returns the JSON row of a projection. */
export function projectionRow({ name, projection, about }: NamedProjection): ProjectionRow {
  return { name, version: projection.version ?? null, history: projection.history, about };
}

/** Reads the value of a projection at a point. */
export async function readProjection(
  { session, ref, point }: OpenRef,
  { name, projection }: NamedProjection,
): Promise<FoldAnswer> {
  const value = await session.at(point).fold(projection);
  return { ref: refText(ref), projection: name, version: projection.version ?? null, value };
}
