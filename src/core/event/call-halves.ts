import { stringAt } from '../json.ts';
import type { Event } from './event.ts';

/**
 * One half of a call: its start or its end. The id of a call comes from the provider, and two agents, two runs, or two
 * turns of one run may use the same.
 */
export interface CallHalf {
  readonly isStart: boolean;
  /** The id of its event. */
  readonly event: string;
  /** The ids of the events that it replaced. */
  readonly replaced?: readonly string[] | undefined;
  /** The id of the call; null if its payload was erased. */
  readonly call: string | null;
  /** The agent and the run it names; null if none. */
  readonly agent: string | null;
  readonly run: string | null;
  /** The event that led to it. */
  readonly cause: string | null;
  /** Whether it is a question to a person, or the answer. */
  readonly isPerson: boolean;
}

/** A start, as far as an end needs it. */
export type StartHalf = Pick<CallHalf, 'event' | 'replaced' | 'call' | 'agent' | 'run'>;

/** The two halves of a call: an open call has no end, and the start of a call may be gone from a view. */
export interface CallPair<Half> {
  readonly start: Half | undefined;
  readonly end: Half | undefined;
}

/** Returns what the start or end of a call says about the other half. */
export function halfOf({ id, type, agent, run, cause, data, replacedIds }: Event): CallHalf {
  return {
    isStart: type === 'call.started',
    event: id,
    replaced: replacedIds,
    call: stringAt(data, 'call') ?? null,
    agent: agent ?? null,
    run: run ?? null,
    cause: cause ?? null,
    isPerson: data['kind'] === 'person',
  };
}

/**
 * Finds the start that an end belongs to, among those that are open: the one that its cause names. Where the cause names
 * none, as in some imports, it is the last one with the id of the call of the same agent and run; then one where the
 * agent or the run is not known. An end without a cause may be that of an earlier run of the agent. A person may answer
 * in any run, and as anyone if a single question has the id.
 */
export function startOf<Start extends StartHalf>(
  { call, agent, run, cause, isPerson }: Omit<CallHalf, 'event' | 'isStart'>,
  open: readonly Start[],
): Start | undefined {
  const isNamed = (start: Start): boolean =>
    start.event === cause || (cause !== null && start.replaced?.includes(cause) === true);
  const named = cause === null ? undefined : open.findLast(isNamed);
  if (named !== undefined && (call === null || named.call === null || named.call === call)) return named;
  if (call === null) return undefined;
  const same = open.filter((start) => start.call === call);
  const ofAgent = same.filter((start) => fits(start.agent, agent));
  return (
    same.findLast((start) => start.agent === agent && start.run === run) ??
    ofAgent.findLast((start) => fits(start.run, run)) ??
    (cause === null || isPerson ? ofAgent.at(-1) : undefined) ??
    (isPerson && same.length === 1 ? same[0] : undefined)
  );
}

/** Tells whether two names may be the same: they are equal, or one is not known. */
const fits = (a: string | null, b: string | null): boolean => a === null || b === null || a === b;

/** Pairs the halves of calls, which are in order. The pairs are in the order of their first halves. */
export function pairHalves<Half extends CallHalf>(halves: Iterable<Half>): readonly CallPair<Half>[] {
  const pairs = new Map<Half, CallPair<Half>>();
  const open = new Map<string | null, Set<Half>>();
  const openAs = (call: string | null): Set<Half> => {
    const held = open.get(call) ?? new Set();
    open.set(call, held);
    return held;
  };
  for (const half of halves) {
    if (half.isStart) {
      pairs.set(half, { start: half, end: undefined });
      openAs(half.call).add(half);
      continue;
    }
    const mayBe = half.call === null ? [...open.values()] : [openAs(null), openAs(half.call)];
    const start = startOf(
      half,
      mayBe.flatMap((held) => [...held]),
    );
    pairs.set(start ?? half, { start, end: half });
    if (start !== undefined) openAs(start.call).delete(start);
  }
  return [...pairs.values()];
}
