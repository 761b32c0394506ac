import { eventTypes } from '../../core/event/catalogue.ts';
import type { EventFilter } from '../../core/event/filter.ts';
import { nearest } from '../../core/nearest.ts';
import type { Session } from '../../engine/session.ts';
import type { EventReading } from './event-reading.ts';

// What is written in so many events is rather what is meant than what was written long before.
const eventsMax = 1_000;

const kinds: readonly string[] = ['model', 'tool', 'http', 'mcp', 'process', 'person'];
/** How something can have ended. */
export const outcomes: readonly string[] = ['ok', 'error', 'aborted', 'interrupted', 'budget'];

/** What to say when no event matches: that it is so, and for each word that nothing was written with, what is near it. */
export async function nothingFound(session: Session, reading: EventReading): Promise<string[]> {
  const { filter } = reading;
  if (Object.keys(filter).length === 0) return ['No events yet.'];
  const written = await wordsOf(session, reading);
  return ['No events match.', ...typeHints(filter, written), ...wordHints(filter, written)];
}

interface Written {
  readonly types: Set<string>;
  readonly agents: Set<string>;
  readonly runs: Set<string>;
  readonly names: Set<string>;
}

async function wordsOf(session: Session, { point: at, history }: EventReading): Promise<Written> {
  const written = {
    types: new Set<string>(),
    agents: new Set<string>(),
    runs: new Set<string>(),
    names: new Set<string>(),
  };
  for await (const { type, agent, run, data } of session.replay({
    at,
    history,
    direction: 'backward',
    limit: eventsMax,
  })) {
    written.types.add(type);
    if (agent !== undefined) written.agents.add(agent);
    if (run !== undefined) written.runs.add(run);
    if (typeof data['name'] === 'string') written.names.add(data['name']);
  }
  return written;
}

function typeHints({ types = [] }: EventFilter, written: Written): string[] {
  return types.flatMap((type) => {
    if (written.types.has(type) || Object.hasOwn(eventTypes, type)) return [];
    const near = nearest(type, [...written.types, ...Object.keys(eventTypes)]);
    return near === undefined ? [] : [`There is no event type "${type}" here. Did you mean "${near}"?`];
  });
}

function wordHints({ agent, run, kind, outcome, name }: EventFilter, written: Written): string[] {
  const hint = (option: string, given: string | undefined, words: Iterable<string>): string[] => {
    const known = [...words];
    if (given === undefined || given.startsWith('~') || known.includes(given)) return [];
    const near = nearest(given, known);
    return near === undefined ? [] : [`There is no ${option} "${given}" here. Did you mean "${near}"?`];
  };
  return [
    ...agentHint(agent, written.agents),
    ...hint('run', run, written.runs),
    ...hint('kind', kind, kinds),
    ...hint('tool', name, written.names),
    ...hint('outcome', outcome, outcomes),
  ];
}

/** An agent is meant exactly; whoever wrote a part of an id is told how to say so. */
function agentHint(agent: string | undefined, agents: ReadonlySet<string>): string[] {
  if (agent === undefined || agent.startsWith('~') || agents.has(agent)) return [];
  const isPart = [...agents].some((id) => id.toLowerCase().includes(agent.toLowerCase()));
  const near = isPart ? `--agent '~${agent}'` : nearest(agent, [...agents]);
  if (near === undefined) return [];
  return [`There is no agent "${agent}" here. Did you mean ${isPart ? near : `"${near}"`}?`];
}
