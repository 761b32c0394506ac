import { canonicalJson } from '../canonical-json.ts';
import { RepriseError } from '../error.ts';
import { checkBytes, checkLimit, isSurelyWithin } from '../limits.ts';
import { DataDecoder, refsIn } from '../parts/decode.ts';
import { type Sha256 } from '../parts/digest.ts';
import { checkPart } from '../parts/part-check.ts';
import { mayHoldRefs, type PartInput } from '../parts/parts.ts';
import type { Digest, Point, Seq } from '../point.ts';
import type { History } from '../view/view.ts';
import { type AppendPlan, appendedOf, type BranchState, type Condition, knownBatch, planAppend } from './append.ts';
import type { AppendOutcome, AppendRequest, EraseRequest, EventInput, Platform, StoredEvent } from './event-store.ts';

/** What a store looks up, within one session and one transaction, while an append is judged. */
export interface AppendSource {
  /** The state of a branch; undefined if the session does not have it. */
  readonly stateOf: (branch: string) => BranchState | undefined;
  /** The state at a seq that this branch itself stores (0 for the root); undefined if it does not store it. */
  readonly stateAt: (point: Point) => BranchState | undefined;
  /** The stored events among these ids, with their data. */
  readonly known: (ids: readonly string[]) => ReadonlyMap<string, StoredEvent>;
  /** Where the causes of a request stand, those that are stored. */
  readonly causes: (
    ids: readonly string[],
  ) => ReadonlyMap<string, { readonly branch: string; readonly seq: Seq; readonly turn: number }>;
  readonly turnAt: (branch: string, seq: Seq) => number;
  /** The first event after `since` in a history that is indexed under one of the keys or prefixes. */
  readonly firstChange: (
    history: History,
    condition: Extract<Condition, { kind: 'unchanged' }>,
  ) => { readonly key: string; readonly seq: Seq } | undefined;
  /** A part this session holds. */
  readonly part: (digest: Digest) => PartInput | undefined;
  /** Which of these parts the session does not hold whole: what an erasure left a hole in is not what was meant. */
  readonly notHeld: (digests: readonly Digest[]) => readonly Digest[];
}

/** What an append comes to: an answer for what is stored already, or rows to write. */
export type Judgement =
  | { readonly kind: 'known'; readonly outcome: Extract<AppendOutcome, { ok: true }> }
  | { readonly kind: 'new'; readonly plan: AppendPlan; readonly outcome: Extract<AppendOutcome, { ok: true }> };

/**
 * Judges one append the way every store must: known ids first, then the branch, then the parts, then the plan. Throws a
 * {@link RepriseError} if it is refused; nothing has been written then.
 */
export function judgeAppend(source: AppendSource, request: AppendRequest, platform: Platform): Judgement {
  checkSize(request);
  const ids = request.events.map((event) => event.id);
  checkOnce(ids);
  const stored = source.known(ids);
  const known = stored.size === 0 ? undefined : knownBatch(request.events, stored, sameData(source, request));
  if (known !== undefined) {
    const branch = (known[0] as StoredEvent).branch;
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

/** Refuses a batch that is too large; a writer that asks before it sends is spared the way. */
export function checkSize({ events, parts }: SizedBatch): void {
  checkLimit('appendEventsMax', events.length, 'append a batch');
  let units = 0;
  for (const event of events) units += event.data?.length ?? 0;
  for (const part of parts) units += part.text.length;
  if (isSurelyWithin('appendBytesMax', units)) return;
  const texts = [...events.map(({ data }) => data ?? ''), ...parts.map(({ text }) => text)];
  checkBytes('appendBytesMax', texts, 'append a batch');
}

/** As much of a batch as says how large it is. */
interface SizedBatch {
  readonly events: readonly { readonly data: string | null }[];
  readonly parts: readonly { readonly text: string }[];
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

/** Equal text is equal data; where parts are in play, a list stored anew with another salt is still the same list. */
function sameData(source: AppendSource, request: AppendRequest): (input: EventInput, held: StoredEvent) => boolean {
  const given = new Map(request.parts.map((part) => [part.digest, part]));
  let isHoled = false;
  const isErased = (): boolean => {
    isHoled = true;
    return true;
  };
  return (input, held) => {
    // What was erased cannot be compared any more; the id alone decides.
    if (held.data === null || input.data === held.data) return true;
    if (!mayHoldRefs(input.data) && !mayHoldRefs(held.data)) return false;
    isHoled = false;
    const before = new DataDecoder({ get: source.part, isErased }).decode(held.data);
    if (isHoled) return true;
    const now = new DataDecoder({ get: (digest) => given.get(digest) ?? source.part(digest), isErased }).decode(
      input.data,
    );
    return canonicalJson(before) === canonicalJson(now);
  };
}

/** The state that a batch is written onto, or why there is none. */
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
    throw branchNotFound(session, target.branch, 'append to');
  }
  if (source.stateOf(target.branch) !== undefined) {
    throw new RepriseError(
      'branch.exists',
      `Cannot fork to "${target.branch}": session "${session}" has a branch of that name`,
      {
        hint: 'Choose another name.',
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
  if (source.stateOf(parent.branch) === undefined) throw branchNotFound(session, parent.branch, 'fork');
  throw new RepriseError(
    'point.out-of-range',
    `Cannot fork "${parent.branch}" at seq ${parent.seq}: it does not store that seq`,
    {
      hint: 'Name the branch that stores the event, and a seq up to its head.',
      details: { session, branch: parent.branch, seq: parent.seq },
    },
  );
}

function branchNotFound(session: string, branch: string, verb: string): RepriseError {
  return new RepriseError(
    'branch.not-found',
    `Cannot ${verb} "${branch}": session "${session}" has no branch of that name`,
    {
      hint: 'List the branches of the session.',
      details: { session, branch },
    },
  );
}

/** Every digest that is referred to must be given or held, and a part must be what its digest says. */
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

/** Refuses an erasure that was planned before another one came. */
export function checkErasures({ session, erasures }: EraseRequest, actual: number): void {
  if (erasures === undefined || erasures === actual) return;
  throw new RepriseError('append.conflict', `Cannot erase in session "${session}": another erasure came first`, {
    hint: 'Look again for what holds the content, and erase that.',
    details: { session, expected: erasures, actual },
  });
}

const nothingStored: ReturnType<AppendSource['causes']> = new Map();

function factsOf(source: AppendSource, request: AppendRequest, state: BranchState): Parameters<typeof planAppend>[2] {
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

/** The outcome of an append that was not written. */
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
