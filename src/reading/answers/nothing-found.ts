import { eventTypes } from '../../core/event/catalogue.ts';
import { outcomes } from '../../core/event/event.ts';
import type { EventFilter } from '../../core/event/filter.ts';
import { nearest } from '../../core/nearest.ts';
import type { CallStart } from '../../core/recording/recorder.ts';
import type { Session } from '../../engine/session.ts';
import type { EventReading } from './event-reading.ts';

// A word used in the last events is a more likely correction than one used long ago.
const eventsMax = 1_000;

const kinds: readonly CallStart['kind'][] = ['model', 'tool', 'http', 'mcp', 'process', 'person'];

/** A word of a filter that matches nothing in a history, and the closest one that does. */
export interface Misspelling {
  /** The kind of name. */
  readonly what: 'event type' | 'agent' | 'run' | 'task' | 'kind' | 'tool' | 'outcome';
  readonly word: string;
  /** The closest word in use; undefined where the word is a part of an agent's id. */
  readonly near: string | undefined;
}

/** Finds the words of a filter that nothing in the history was written with. */
export async function misspellingsOf(session: Session, reading: EventReading): Promise<Misspelling[]> {
  const { types = [], agent, run, kind, outcome, name }: EventFilter = reading.filter;
  const used = await usedWords(session, reading);
  const check = (what: Misspelling['what'], word: string | undefined, known: Iterable<string>): Misspelling[] => {
    const words = [...known];
    if (word === undefined || word.startsWith('~') || words.includes(word)) return [];
    const near = nearest(word, words);
    return near === undefined ? [] : [{ what, word, near }];
  };
  const knownTypes = [...used.types, ...Object.keys(eventTypes)];
  return [
    ...types.flatMap((type) => check('event type', type, knownTypes)),
    ...(isPartOfAgent(agent, used.agents)
      ? [{ what: 'agent' as const, word: agent, near: undefined }]
      : check('agent', agent, used.agents)),
    ...check('run', run, used.runs),
    ...check('task', reading.task, used.tasks),
    ...check('kind', kind, kinds),
    ...check('tool', name, used.names),
    ...check('outcome', outcome, outcomes),
  ];
}

/** Returns true if somebody wrote a part of an agent's id where the whole is needed. */
function isPartOfAgent(agent: string | undefined, agents: ReadonlySet<string>): agent is string {
  if (agent === undefined || agent.startsWith('~') || agents.has(agent)) return false;
  return [...agents].some((id) => id.toLowerCase().includes(agent.toLowerCase()));
}

interface UsedWords {
  readonly types: Set<string>;
  readonly agents: Set<string>;
  readonly runs: Set<string>;
  readonly tasks: Set<string>;
  readonly names: Set<string>;
}

async function usedWords(session: Session, { point: at, history }: EventReading): Promise<UsedWords> {
  const used: UsedWords = { types: new Set(), agents: new Set(), runs: new Set(), tasks: new Set(), names: new Set() };
  const last = { history, direction: 'backward', limit: eventsMax } as const;
  for await (const { type, agent, run, data } of session.at(at).replay(last)) {
    used.types.add(type);
    if (agent !== undefined) used.agents.add(agent);
    if (run !== undefined) used.runs.add(run);
    if (typeof data['task'] === 'string') used.tasks.add(data['task']);
    if (typeof data['name'] === 'string') used.names.add(data['name']);
  }
  return used;
}
