import { given, stringAt } from '../json.ts';
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

/** A start, as far as an end needs it. It is JSON, so that a projection can keep it. */
export interface StartHalf {
  readonly event: string;
  readonly replaced?: readonly string[] | undefined;
  readonly call: string | null;
  readonly agent: string | null;
  readonly run: string | null;
}

/** The starts of open calls, by `c:` and the id of the call, or `e` if it was erased; each in order. It is JSON too. */
export type OpenStarts<Start extends StartHalf> = Record<string, Start[]>;

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

/** Returns true if two names may be the same: they are equal, or one is not known. */
const fits = (a: string | null, b: string | null): boolean => a === null || b === null || a === b;

/** Returns the start of a call in the form that a projection keeps. */
export function startHalf(event: Event): StartHalf {
  const { event: id, call, agent, run, replaced } = halfOf(event);
  return { event: id, call, agent, run, ...given({ replaced }) };
}

const openKey = (call: string | null): string => (call === null ? 'e' : `c:${call}`);

/** Notes that a call started. */
export function noteStart<Start extends StartHalf>(open: OpenStarts<Start>, start: Start): void {
  (open[openKey(start.call)] ??= []).push(start);
}

/** Takes the start that an end belongs to out of the open ones; see {@link startOf}. */
export function takeStart<Start extends StartHalf>(
  open: OpenStarts<Start>,
  end: Parameters<typeof startOf>[0],
): Start | undefined {
  const keys = end.call === null ? Object.keys(open) : [openKey(null), openKey(end.call)];
  const start = startOf(
    end,
    keys.flatMap((key) => open[key] ?? []),
  );
  if (start === undefined) return undefined;
  const key = openKey(start.call);
  const left = open[key]?.filter((other) => other !== start) ?? [];
  if (left.length === 0) delete open[key];
  else open[key] = left;
  return start;
}

/** Pairs the halves of calls, which are in order. The pairs are in the order of their first halves. */
export function pairHalves<Half extends CallHalf>(halves: Iterable<Half>): readonly CallPair<Half>[] {
  const pairs = new Map<Half, CallPair<Half>>();
  const open: OpenStarts<Half> = {};
  for (const half of halves) {
    const start = half.isStart ? half : takeStart(open, half);
    if (half.isStart) noteStart(open, half);
    pairs.set(start ?? half, { start, end: half.isStart ? undefined : half });
  }
  return [...pairs.values()];
}
