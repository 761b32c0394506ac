import type { Event } from '../../core/event/event.ts';
import { isObject, type JsonValue } from '../../core/json.ts';
import { textOf } from '../../core/message/message.ts';
import type { Session } from '../../engine/session.ts';
import { summary } from '../../projections/summary.ts';
import type { OpenRef } from '../open-ref.ts';

/** One fork on the way from a branch back to the beginning of its session. */
interface Ancestor {
  readonly branch: string;
  readonly seq: number;
  readonly reason: string | null;
}

/** The facts in the header of a history. All of them are near its two ends, so reading them is fast at any length. */
export interface HistoryFacts {
  readonly branch: string;
  readonly seq: number;
  readonly digest: string;
  readonly title: string | null;
  readonly startedAt: string | null;
  readonly lastAt: string | null;
  /** When the last run began, if it resumed an earlier one. */
  readonly resumedAt: string | null;
  /** How long it took, without the time of people; null for a history that is too long to add it up at once. */
  readonly durationMs: number | null;
  /** Whether some event names a task; of a long history, one of the first. */
  readonly hasTasks: boolean;
  /** How the last run ended, if the history ends there. */
  readonly outcome: string | null;
  readonly git: JsonValue;
  readonly configDigest: string | null;
  /** From the nearest fork to the first. */
  readonly lineage: readonly Ancestor[];
}

// Enough to include the start of the first run and the first user message, if they were recorded.
const beginningEvents = 64;
/** Folding this many events takes a few milliseconds; a longer fold would delay what is shown first. */
export const quickEvents = 2_000;
const lineageMax = 8;

/** Reads the facts in the header of a history. */
export async function historyFacts({ session, ref: { branch }, point }: OpenRef): Promise<HistoryFacts> {
  const { seq, digest } = await session.at(point).locate();
  const first: Event[] = [];
  for await (const event of session.at(point).replay({ limit: beginningEvents })) first.push(event);
  let last: Event | undefined;
  for await (const event of session.at(point).replay({ direction: 'backward', limit: 1 })) last = event;
  const began = first.find((event) => event.type === 'run.started');
  const run = began?.data ?? {};
  return {
    branch,
    seq,
    digest,
    title: textIn(run['title']) ?? firstQuestion(first),
    startedAt: first[0]?.time ?? null,
    lastAt: last?.time ?? null,
    resumedAt: last?.run === undefined || last.run === began?.run ? null : await resumption(session, point),
    durationMs: seq > quickEvents ? null : (await session.at(point).fold(summary)).durationMs,
    hasTasks: await hasTasks(session, point, seq > quickEvents ? first : undefined),
    outcome: last?.type === 'run.ended' ? textIn(last.data['outcome']) : null,
    git: isObject(run['git']) ? run['git'] : null,
    configDigest: textIn(run['configDigest']),
    lineage: await lineageOf(session, branch),
  };
}

/** Returns true if events name tasks: all of them, or only those given. */
async function hasTasks(session: Session, at: string, some: readonly Event[] | undefined): Promise<boolean> {
  const names = ({ data }: Event): boolean => typeof data['task'] === 'string';
  if (some !== undefined) return some.some(names);
  for await (const event of session.at(at).replay()) if (names(event)) return true;
  return false;
}

/** Returns when the last run began; null unless it resumed an earlier run. */
async function resumption(session: Session, point: string): Promise<string | null> {
  const last = { direction: 'backward', limit: 1, filter: { types: ['run.started'] } } as const;
  for await (const { time, data } of session.at(point).replay(last)) return isObject(data['resumed']) ? time : null;
  return null;
}

const textIn = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);

function firstQuestion(events: readonly Event[]): string | null {
  for (const { type, data } of events) {
    const message = data['message'];
    if (type === 'message.added' && isObject(message) && message['role'] === 'user')
      return textOf(message).slice(0, 200).replace(/\s+/g, ' ');
  }
  return null;
}

async function lineageOf(session: Session, name: string): Promise<Ancestor[]> {
  const lineage: Ancestor[] = [];
  let { parent } = await session.branch(name).locate();
  for (let child = name; parent !== null && lineage.length < lineageMax; ) {
    const reason = await forkReason(session, child, parent.seq);
    lineage.push({ branch: parent.branch, seq: parent.seq, reason });
    child = parent.branch;
    ({ parent } = await session.branch(child).locate());
  }
  return lineage;
}

async function forkReason(session: Session, branch: string, after: number): Promise<string | null> {
  const at = { branch, seq: after + 1 };
  for await (const forked of session.at(at).replay({ history: 'raw', after, limit: 1 }))
    return textIn(forked.data['reason']);
  return null;
}
