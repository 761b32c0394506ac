import type { Event } from '../../core/event/event.ts';
import { compileFilter, type EventFilter } from '../../core/event/filter.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { ReplayOptions } from '../../core/session/session-log.ts';
import type { BranchSummary } from '../../core/store/event-store.ts';
import { ownSegment } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { sessionIds, sessionRecord } from '../history/place.ts';
import { type EventsBatch, readEvents } from '../history/stored-events.ts';
import { checkReading, filterOf } from './replay.ts';

/** Which events to replay across sessions. */
export interface ReplayAllOptions extends Pick<ReplayOptions, 'since' | 'until' | 'filter' | 'limit' | 'signal'> {
  /** Only events of this agent; `~text` for any agent whose id contains it. */
  readonly agent?: string;
  /** Only these sessions, each of which must exist; all of the namespace if left out. */
  readonly sessions?: readonly string[];
}

const replayKeys: KnownKeys = optionKeys<ReplayAllOptions>('replay', {
  agent: 'text',
  sessions: 'list',
  since: 'text',
  until: 'text',
  filter: true,
  limit: 'number',
  signal: 'signal',
});

/** A branch being read: the events it stores itself, batch by batch. */
interface OpenBranch {
  readonly batches: AsyncGenerator<EventsBatch>;
  events: readonly Event[];
  index: number;
}

// The most events in memory, of all open branches together.
const heldEventsMax = 8_192;
const branchPageMax = 256;

/**
 * Yields every stored event of many branches once, merged by time: each time the earliest of the branches' next events.
 * An event recorded late comes where its branch recorded it.
 */
export async function* replayAll(
  engine: Engine,
  options: ReplayAllOptions = {},
): AsyncGenerator<Event, void, undefined> {
  checkReading(options, replayKeys);
  const filter: EventFilter = {
    ...filterOf(options),
    ...given({ agent: options.agent }),
  };
  const holds = compileFilter(filter);
  const open: OpenBranch[] = [];
  for (const branch of await openBranches(engine, options, filter)) if (await fill(branch, holds)) insert(open, branch);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  while (left > 0 && options.signal?.aborted !== true) {
    const branch = open.pop();
    if (branch === undefined) return;
    left -= 1;
    yield nextOf(branch);
    branch.index += 1;
    if (await fill(branch, holds)) insert(open, branch);
  }
}

/** Inserts a branch into the open ones, which are sorted with the earliest next event last. */
function insert(open: OpenBranch[], branch: OpenBranch): void {
  let low = 0;
  let high = open.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(branch, open[middle] as OpenBranch)) low = middle + 1;
    else high = middle;
  }
  open.splice(low, 0, branch);
}

async function openBranches(engine: Engine, options: ReplayAllOptions, filter: EventFilter): Promise<OpenBranch[]> {
  const branches: { readonly session: string; readonly branch: BranchSummary }[] = [];
  for (const session of (await givenSessions(engine, options.sessions)) ?? (await sessionIds(engine)))
    for (const branch of await engine.store.branches(sessionRef(engine, session))) branches.push({ session, branch });
  const limit = Math.max(1, Math.min(branchPageMax, Math.floor(heldEventsMax / Math.max(1, branches.length))));
  return branches.map(({ session, branch }) => {
    const batches = readEvents(engine, session, [ownSegment(branch)], { limit, filter });
    return { batches, events: [], index: 0 };
  });
}

/** Returns the sessions that were asked for, each once; an unknown one is an error instead of an empty answer. */
async function givenSessions(
  engine: Engine,
  given: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  if (given === undefined) return undefined;
  const sessions = [...new Set(given)];
  for (const id of sessions) await sessionRecord(engine, checkId('session', id));
  return sessions;
}

const nextOf = (branch: OpenBranch): Event => branch.events[branch.index] as Event;

function isBefore(left: OpenBranch, right: OpenBranch): boolean {
  const [a, b] = [nextOf(left), nextOf(right)];
  return a.time === b.time ? a.id < b.id : a.time < b.time;
}

/** Reads on until the branch has a next event; false at its end. */
async function fill(branch: OpenBranch, holds: (event: Event) => boolean): Promise<boolean> {
  while (branch.index >= branch.events.length) {
    const { done, value } = await branch.batches.next();
    if (done === true) return false;
    branch.events = value.events.filter(holds);
    branch.index = 0;
  }
  return true;
}
