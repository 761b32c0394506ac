import { canonicalJson } from '../canonical-json.ts';
import { RepriseError } from '../error.ts';
import type { Event } from '../event/event.ts';
import type { Sha256 } from '../parts/digest.ts';
import { createBehaviourText, type Rename } from './behaviour.ts';
import { createRunBook, firstRunOf, noteRun, type RunBook } from './resumption.ts';

/** The behaviour of a history as `rf1:` and 64 hexadecimal digits. */
export type Fingerprint = `rf1:${string}`;

/** The scheme this release computes. A scheme that counts differently gets a new name. */
export const fingerprintScheme = 'rf1';

/** The events of one agent in one run (and the runs that resumed it). Their order counts. */
export interface FingerprintLane {
  readonly agent: string | null;
  readonly run: string | null;
  /** A digest of everything the lane did. */
  chain: string;
  /** The chain including the end of the run; kept apart, since a resume takes that end back. */
  ended: string | null;
  /** Open calls by `c:` and their id, and how many there were: a call counts by the order of first use in its lane. */
  readonly calls: Record<string, number>;
  callCount: number;
  /** Ids that no event introduced, by kind and id: they count by first use in the lane. */
  readonly strangers: Record<string, number>;
  strangerCount: number;
}

/**
 * The fold's value. It keeps lanes apart by agent and run, but only their behaviour counts in the end: neither run ids
 * nor the order in which concurrent lanes arrived change the fingerprint.
 */
export interface FingerprintState {
  readonly lanes: Record<string, FingerprintLane>;
  readonly runs: RunBook;
  /**
   * Names of ids that other lanes may use, by `e:` or `t:` and the id: the digest of the lane that introduced it, up to
   * there. The name says what happened and not when, so arrival order does not matter. They are spread over many small
   * records by the end of the id: a record of a million names blocks the event loop whenever it has to grow.
   */
  readonly names: Record<string, Record<string, string>>;
  /** Events that counted. */
  events: number;
  /** Events that counted and whose payload was erased: the fingerprint is no longer the one before the erasure. */
  erased: number;
}

/** The fingerprint as a fold; see {@link createFingerprint}. */
export interface FingerprintFold {
  readonly initial: () => FingerprintState;
  /** Changes the state in place. */
  readonly apply: (state: FingerprintState, event: Event) => FingerprintState;
  readonly finish: (state: FingerprintState) => Fingerprint;
}

/**
 * Returns a fold that computes the fingerprint of a view. Each lane (agent, run) is a chain of digests over the behaviour
 * of its events (see `behaviourOf`); the fingerprint is the digest of all chains, sorted. So order counts within a lane
 * and not between lanes. Two lanes of one agent that did exactly the same are interchangeable.
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
  // Ids have no control characters and are not empty, so this cannot be forged.
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

/** Takes back the end of a run that a later run resumes: the end does not count. */
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
  namesFor(state, event.id)[`e:${event.id}`] = name;
  const { call, task } = event.data;
  if (event.type === 'task.started' && typeof task === 'string') namesFor(state, task)[`t:${task}`] ??= name;
  // A later call with the same id is a new call, so only open calls are remembered.
  if (event.type === 'call.ended' && typeof call === 'string') delete lane.calls[`c:${call}`];
}

/**
 * Returns the first 16 digits as a new string: a slice of that length would keep the whole chain in memory, which is
 * three times what the name needs.
 */
function nameOf(chain: string): string {
  return [chain.slice(0, 8), chain.slice(8, 16)].join('');
}

/** Records that names are spread over. With fewer, all would grow at the same time. */
const recordsMax = 1_024;

/** Returns the record that has the names of an id. */
function namesFor({ names }: FingerprintState, id: string): Record<string, string> {
  let mixed = 0;
  for (let index = Math.max(0, id.length - 3); index < id.length; index++) mixed = mixed * 31 + id.charCodeAt(index);
  return (names[`n${mixed % recordsMax}`] ??= {});
}

function renameIn(state: FingerprintState, lane: FingerprintLane): Rename {
  return (kind, id) => {
    if (kind === 'call') return (lane.calls[`c:${id}`] ??= lane.callCount++);
    if (kind === 'event') return namesFor(state, id)[`e:${id}`] ?? null;
    return namesFor(state, id)[`t:${id}`] ?? (lane.strangers[`t:${id}`] ??= lane.strangerCount++);
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
 * Compares two fingerprints; refuses a scheme that this release does not compute, and names it.
 *
 * @example
 * ```ts
 * compareFingerprints(await session.fingerprint(), await branch.fingerprint()); // 'different'
 * ```
 */
export function compareFingerprints(left: string, right: string): 'equal' | 'different' {
  return checkFingerprint(left) === checkFingerprint(right) ? 'equal' : 'different';
}

function isFingerprint(text: string): text is Fingerprint {
  return /^rf1:[0-9a-f]{64}$/.test(text);
}

/** Returns text as a fingerprint of this release's scheme, or throws `fingerprint.other-scheme`. */
export function checkFingerprint(text: string): Fingerprint {
  if (isFingerprint(text)) return text;
  const [scheme, ...rest] = text.split(':');
  const what =
    rest.length === 0 || scheme === fingerprintScheme ? 'is not a fingerprint' : `is of the scheme "${scheme}"`;
  throw new RepriseError(
    'fingerprint.other-scheme',
    `Cannot compare ${JSON.stringify(text.slice(0, 80))}: it ${what}, this release computes "${fingerprintScheme}"`,
    { hint: 'Compute both fingerprints with the same release.', details: { scheme: scheme ?? '' } },
  );
}
