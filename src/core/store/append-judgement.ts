import { canonicalJson } from '../canonical-json.ts';
import { RepriseError } from '../error.ts';
import { checkLimit } from '../limits.ts';
import { DataDecoder, refsIn } from '../parts/decode.ts';
import type { Sha256 } from '../parts/digest.ts';
import { checkPart } from '../parts/part-check.ts';
import { mayHoldRefs, type PartInput } from '../parts/parts.ts';
import type { Digest, Point, Seq } from '../point.ts';
import type { History } from '../view/view.ts';
import { type AppendFacts, type AppendPlan, appendedOf, type EventPlace, knownBatch, planAppend } from './append.ts';
import type { AppendOutcome, AppendRequest, EventInput, UnchangedCondition } from './append-request.ts';
import { checkSize } from './append-size.ts';
import type { BranchState } from './branch-state.ts';
import type { Platform } from './platform.ts';
import { branchNotFound } from './store-state.ts';
import type { StoredEvent } from './stored-event.ts';

/** The lookups that a store offers, within one session and one transaction, while an append is judged. */
export interface AppendSource {
  /** Returns the state of a branch; undefined if the session does not have it. */
  readonly stateOf: (branch: string) => BranchState | undefined;
  /** Returns the state at a seq that this branch itself stores (0 for the root); undefined if it does not store it. */
  readonly stateAt: (point: Point) => BranchState | undefined;
  /** Returns the stored events among these ids, with their data. */
  readonly known: (ids: readonly string[]) => ReadonlyMap<string, StoredEvent>;
  /** Returns the places of the stored causes of a request. */
  readonly causes: (ids: readonly string[]) => ReadonlyMap<string, EventPlace>;
  readonly turnAt: (branch: string, seq: Seq) => number;
  /** Returns the first event after `since` in a history that is indexed under one of the keys or prefixes. */
  readonly firstChange: (history: History, condition: UnchangedCondition) => KeyedSeq | undefined;
  /** Returns a part that this session has. */
  readonly part: (digest: Digest) => PartInput | undefined;
  /** Returns which of these parts the session does not have whole. A part in which an erasure left a hole does not count. */
  readonly notHeld: (digests: readonly Digest[]) => readonly Digest[];
}

/** One event and one key it is indexed under. */
export interface KeyedSeq {
  readonly key: string;
  readonly seq: Seq;
}

/** The result of judging an append: an answer if its events are stored already, or rows to write. */
export type Judgement =
  | { readonly kind: 'known'; readonly outcome: Extract<AppendOutcome, { ok: true }> }
  | { readonly kind: 'new'; readonly plan: AppendPlan; readonly outcome: Extract<AppendOutcome, { ok: true }> };

/**
 * Judges one append the way every store must: known ids first, then the branch, then the parts, then the plan. Throws a
 * {@link RepriseError} to refuse it, before the store has written anything.
 *
 * @example
 * ```ts
 * // Inside the transaction of a store, whose lookups are the `source`:
 * const appendOne = (source: AppendSource, request: AppendRequest, write: (plan: AppendPlan) => void): AppendOutcome => {
 *   const judgement = judgeAppend(source, request, createNodePlatform());
 *   if (judgement.kind === 'new') write(judgement.plan);
 *   return judgement.outcome;
 * };
 * ```
 */
export function judgeAppend(source: AppendSource, request: AppendRequest, platform: Platform): Judgement {
  checkSize(request);
  const ids = request.events.map((event) => event.id);
  checkOnce(ids);
  const stored = source.known(ids);
  const known = stored.size === 0 ? undefined : knownBatch(request.events, stored, sameData(source, request));
  if (known !== undefined) {
    const branch = known[0]?.branch ?? request.target.branch;
    return { kind: 'known', outcome: { ok: true, known: true, branch, events: known.map(appendedOf) } };
  }
  const state = targetState(source, request);
  checkParts(source, request, platform.sha256);
  const plan = planAppend(state, request, factsOf(source, request, state), platform);
  return {
    kind: 'new',
    plan,
    outcome: { ok: true, known: false, branch: state.branch, events: plan.events.map(appendedOf) },
  };
}

function checkOnce(ids: readonly string[]): void {
  if (ids.length < 2) return;
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) {
      throw new RepriseError('event.id-reused', `Cannot append: the id "${id}" is in the batch twice`, {
        hint: 'Mint a new id for each event.',
        details: { id },
      });
    }
    seen.add(id);
  }
}

/** Equal text is equal data. With parts, data is equal, too, if it decodes to the same: a list may have a new salt. */
function sameData(source: AppendSource, request: AppendRequest): (input: EventInput, held: StoredEvent) => boolean {
  const given = new Map(request.parts.map((part) => [part.digest, part]));
  let isHoled = false;
  const isErased = (): boolean => {
    isHoled = true;
    return true;
  };
  return (input, held) => {
    if (input.data === held.data) return true;
    if (held.data === null) throw erasedMeanwhile(held);
    if (!mayHoldRefs(input.data) && !mayHoldRefs(held.data)) return false;
    isHoled = false;
    const before = new DataDecoder({ get: source.part, isErased }).decode(held.data);
    if (isHoled) throw erasedMeanwhile(held);
    const now = new DataDecoder({ get: (digest) => given.get(digest) ?? source.part(digest), isErased }).decode(
      input.data,
    );
    return canonicalJson(before) === canonicalJson(now);
  };
}

/** Returns the error for an id whose data was erased: a repeated append cannot be told from a new event. */
function erasedMeanwhile({ id, branch, seq }: StoredEvent): RepriseError {
  return new RepriseError(
    'event.erased',
    `Cannot append: the id "${id}" is taken by the event at "${branch}@${seq}", which was erased, so that nobody can tell whether this is the same`,
    {
      hint: 'If you repeat an append, it is stored: leave it. Mint a new id for a new event.',
      details: { id, branch, seq },
    },
  );
}

/** Returns the state that a batch is written onto, or throws why there is none. */
export function targetState(
  source: AppendSource,
  {
    target,
    session,
    events,
  }: Pick<AppendRequest, 'target' | 'session'> & { readonly events: readonly { readonly type: string }[] },
): BranchState {
  if (target.kind === 'branch') {
    const state = source.stateOf(target.branch);
    if (state !== undefined) return state;
    throw branchNotFound({ session, branch: target.branch }, 'append to');
  }
  if (source.stateOf(target.branch) !== undefined) {
    throw new RepriseError(
      'branch.exists',
      `Cannot fork to "${target.branch}": session "${session}" has a branch of that name`,
      {
        hint: 'Choose a different name.',
        details: { session, branch: target.branch },
      },
    );
  }
  if (events.length > 0 && events[0]?.type !== 'branch.forked') {
    throw new RepriseError(
      'edit.invalid',
      `Cannot fork to "${target.branch}": the first event must be "branch.forked"`,
    );
  }
  const { parent } = target;
  const state = source.stateAt(parent);
  if (state !== undefined) return { ...state, branch: target.branch };
  if (source.stateOf(parent.branch) === undefined) throw branchNotFound({ session, branch: parent.branch }, 'fork');
  throw new RepriseError(
    'point.out-of-range',
    `Cannot fork "${parent.branch}" at seq ${parent.seq}: it does not store that seq`,
    {
      hint: 'Name the branch that stores the event, and a seq up to its head.',
      details: { session, branch: parent.branch, seq: parent.seq },
    },
  );
}

/** Checks that every part referred to is given or held, and that every given part matches its digest. */
function checkParts(source: AppendSource, { events, parts }: AppendRequest, sha256: Sha256): void {
  const needed = new Set<Digest>();
  for (const event of events) for (const digest of refsIn(event.data)) needed.add(digest);
  if (needed.size === 0 && parts.length === 0) return;
  for (const part of parts) {
    checkPart(part, sha256);
    for (const digest of part.refs) needed.add(digest);
  }
  for (const part of parts) needed.delete(part.digest);
  const [missing] = needed.size === 0 ? [] : source.notHeld([...needed]);
  if (missing === undefined) return;
  throw new RepriseError(
    'part.missing',
    `Cannot append: the part ${missing.slice(0, 12)}… is neither given nor held by the session`,
    {
      hint: 'Send the part with the append that refers to it.',
      details: { digest: missing },
    },
  );
}

const nothingStored: ReturnType<AppendSource['causes']> = new Map();

function factsOf(source: AppendSource, request: AppendRequest, state: BranchState): AppendFacts {
  const causes = request.events.flatMap((event) => event.cause ?? []);
  const { condition } = request;
  if (condition.kind === 'unchanged') {
    checkLimit(
      'selectedKeysMax',
      condition.keys.length + condition.prefixes.length,
      'append under an "unchanged" condition',
    );
  }
  return {
    stored: causes.length === 0 ? nothingStored : source.causes(causes),
    changed: condition.kind === 'unchanged' ? source.firstChange(state.history, condition) : undefined,
    turnAt: source.turnAt,
  };
}

/** Returns the outcome of an append that was not written. */
export function refusal(error: unknown): AppendOutcome {
  if (error instanceof RepriseError) return { ok: false, error };
  return {
    ok: false,
    error: new RepriseError(
      'store.failed',
      `Cannot append: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    ),
  };
}
