import { canonicalJson } from '../canonical-json.ts';
import { RepriseError } from '../error.ts';
import type { Event } from '../event/event.ts';
import type { Sha256 } from '../parts/digest.ts';
import { createBehaviourText, type Rename } from './behaviour.ts';
import { createRunBook, firstRunOf, noteRun, type RunBook } from './resumption.ts';

/** How a history behaved, as `rf1:` and 64 hexadecimal digits. */
export type Fingerprint = `rf1:${string}`;

/** The scheme this release computes; another one is another promise and gets another name. */
export const fingerprintScheme = 'rf1';

/** The events of one agent in one run (and the runs that resumed it), whose order counts. */
export interface FingerprintLane {
  readonly agent: string | null;
  readonly run: string | null;
  /** A digest of everything the lane did. */
  chain: string;
  /** The chain with the end of the run in it: kept apart, since a resume takes that end back. */
  ended: string | null;
  /** Open calls by `c:` and their id, and how many there were: a call counts by the order of first use in its lane. */
  readonly calls: Record<string, number>;
  callCount: number;
  /** Ids nobody introduced, by kind and id: they count by first use in the lane. */
  readonly strangers: Record<string, number>;
  strangerCount: number;
}

/**
 * The fold's value. Lanes are told apart by agent and run here, but only what they did counts in the end, so neither
 * run ids nor the order in which concurrent lanes arrived leave a mark.
 */
export interface FingerprintState {
  readonly lanes: Record<string, FingerprintLane>;
  readonly runs: RunBook;
  /**
   * Names of ids that other lanes may use, by `e:` or `t:` and the id: the digest of the lane that introduced it, up to
   * there. Such a name says what happened and not when, which is why arrival order does not matter.
   */
  readonly names: Record<string, string>;
  /** Events that counted. */
  events: number;
  /** Events that counted but whose payload was erased: the fingerprint is not the one it was before the erasure. */
  erased: number;
}

/** The fingerprint as a fold; see {@link createFingerprint}. */
export interface FingerprintFold {
  readonly initial: () => FingerprintState;
  /** Changes the state it is given. */
  readonly apply: (state: FingerprintState, event: Event) => FingerprintState;
  readonly finish: (state: FingerprintState) => Fingerprint;
}

/**
 * The fingerprint of a view, an event at a time. Each lane (agent, run) is a chain of digests over what its events say
 * (see `behaviourOf`); the fingerprint is the digest of all chains, sorted. So order counts within a lane and not
 * between lanes. Two lanes of one agent that did exactly the same are not told apart.
 */
export function createFingerprint(sha256: Sha256): FingerprintFold {
  const textOf = createBehaviourText(sha256);
  const apply = (state: FingerprintState, event: Event): FingerprintState => {
    const resumed = noteRun(state.runs, event);
    if (resumed !== undefined) reopen(state, resumed);
    const lane = laneOf(state, event);
    const text = textOf(event, renameIn(state, lane));
    if (text === undefined) return state;
    count(state, lane, event, sha256(`${lane.ended ?? lane.chain}\n${text}`));
    return state;
  };
  return { initial, apply, finish: (state) => finish(state, sha256) };
}

function initial(): FingerprintState {
  return { lanes: {}, runs: createRunBook(), names: {}, events: 0, erased: 0 };
}

function laneOf(state: FingerprintState, event: Event): FingerprintLane {
  const run = event.run === undefined ? null : firstRunOf(state.runs, event.run);
  const agent = event.agent ?? null;
  // Ids hold no control characters and are not empty, so this cannot be forged.
  const key = `${agent ?? ''}\n${run ?? ''}`;
  return (state.lanes[key] ??= {
    agent,
    run,
    chain: '',
    ended: null,
    calls: {},
    callCount: 0,
    strangers: {},
    strangerCount: 0,
  });
}

/** The resumed run goes on where the earlier one stopped: that it stopped does not count. */
function reopen(state: FingerprintState, first: string): void {
  for (const lane of Object.values(state.lanes)) if (lane.run === first) lane.ended = null;
}

function count(state: FingerprintState, lane: FingerprintLane, event: Event, chain: string): void {
  state.events++;
  if (event.erased === true) state.erased++;
  if (event.type === 'run.ended') lane.ended = chain;
  else {
    lane.chain = chain;
    lane.ended = null;
  }
  const name = nameOf(chain);
  state.names[`e:${event.id}`] = name;
  const { call, task } = event.data;
  if (event.type === 'task.started' && typeof task === 'string') state.names[`t:${task}`] ??= name;
  // Whatever comes later under the same call id is another call; open calls are all that has to be remembered.
  if (event.type === 'call.ended' && typeof call === 'string') delete lane.calls[`c:${call}`];
}

/**
 * The first 16 digits, as a text of their own: a slice of that length would keep the whole chain in memory for as long
 * as the name is known, three times what the name needs.
 */
function nameOf(chain: string): string {
  return [chain.slice(0, 8), chain.slice(8, 16)].join('');
}

function renameIn(state: FingerprintState, lane: FingerprintLane): Rename {
  return (kind, id) => {
    if (kind === 'call') return (lane.calls[`c:${id}`] ??= lane.callCount++);
    if (kind === 'event') return state.names[`e:${id}`] ?? null;
    return state.names[`t:${id}`] ?? (lane.strangers[`t:${id}`] ??= lane.strangerCount++);
  };
}

function finish(state: FingerprintState, sha256: Sha256): Fingerprint {
  const lanes = Object.values(state.lanes)
    .filter((lane) => lane.chain !== '' || lane.ended !== null)
    .map((lane) => canonicalJson([lane.agent, lane.ended ?? lane.chain]))
    .sort();
  return `${fingerprintScheme}:${sha256(lanes.join('\n'))}`;
}

/**
 * Compares two fingerprints; refuses, by its name, a scheme that this release does not compute.
 *
 * @example
 * ```ts
 * compareFingerprints(await session.fingerprint(), await branch.fingerprint()); // 'different'
 * ```
 */
export function compareFingerprints(left: string, right: string): 'equal' | 'different' {
  return checkFingerprint(left) === checkFingerprint(right) ? 'equal' : 'different';
}

/** Takes text as a fingerprint of the scheme this release computes, or throws `fingerprint.other-scheme`. */
export function checkFingerprint(text: string): Fingerprint {
  if (/^rf1:[0-9a-f]{64}$/.test(text)) return text as Fingerprint;
  const [scheme, ...rest] = text.split(':');
  const what =
    rest.length === 0 || scheme === fingerprintScheme ? 'is not a fingerprint' : `is of the scheme "${scheme}"`;
  throw new RepriseError(
    'fingerprint.other-scheme',
    `Cannot compare ${JSON.stringify(text.slice(0, 80))}: it ${what}, this release computes "${fingerprintScheme}"`,
    { hint: 'Compute both fingerprints with the same release.', details: { scheme: scheme ?? '' } },
  );
}
