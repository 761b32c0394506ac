import { bodyText, refsIn } from '../core/decode.ts';
import { chainDigest, dataDigestOf, genesisDigest } from '../core/digest.ts';
import { RepriseError } from '../core/error.ts';
import type { JsonObject } from '../core/json.ts';
import { limits } from '../core/limits.ts';
import { mayHoldRefs, type PartInput } from '../core/parts.ts';
import { beginning, type Digest, later, type Seq } from '../core/point.ts';
import type { BranchSummary, Cursor, StoredEvent } from '../core/ports.ts';
import { type PointInput, parsePoint } from '../core/ref.ts';
import { type Engine, sessionRef } from './engine.ts';
import { branchRecord, sessionRecord } from './place.ts';

/** What to hold a history against. */
export interface VerifyOptions {
  /** The branch; `main` if left out. */
  readonly at?: PointInput;
  /** A digest held elsewhere: of the head, or of an earlier point that must still be there. */
  readonly head?: string;
}

/** What verification found. */
export interface Verification {
  readonly ok: boolean;
  /** How many events were checked and found good. */
  readonly events: number;
  /** The digest the chain ends in. */
  readonly digest: Digest | null;
  /** The first seq that is not what it was. */
  readonly firstBad: Seq | null;
  readonly reason: string | null;
  /** What could have happened without being seen, because no digest was given to hold against. */
  readonly notCovered: readonly string[];
}

/** A stretch of raw history on the branch that stores it. */
interface Stretch {
  readonly branch: string;
  readonly after: Seq;
  readonly through: Seq;
  /** Whether it begins with `branch.forked`. */
  readonly isFork: boolean;
}

/** The first thing that is not as it was. */
class Bad extends Error {
  readonly seq: Seq;
  constructor(seq: Seq, reason: string) {
    super(reason);
    this.seq = seq;
  }
}

/** Recomputes the chain of a branch from its beginning and checks every payload and part against it. */
export async function verify(engine: Engine, session: string, options: VerifyOptions = {}): Promise<Verification> {
  const { branch } = parsePoint(options.at ?? {});
  const record = await sessionRecord(engine, session);
  const branches = new Map(
    (await engine.store.branches(sessionRef(engine, session))).map((held) => [held.branch, held]),
  );
  const summary = branches.get(branch);
  if (summary === undefined) return verifyMissing(engine, session, branch);
  const check = new ChainCheck(engine, session, await erasures(engine, session, branches), options.head);
  const notCovered = options.head === undefined ? ['cut tail', 'rewritten chain'] : [];
  try {
    if (genesisDigest(engine.platform.sha256, record.seed) !== record.genesis)
      throw new Bad(beginning, "the session's genesis is not made of its seed");
    check.begin(record.genesis);
    for (const stretch of stretchesOf(branches, summary)) await check.stretch(stretch);
    if (check.seq !== summary.head)
      throw new Bad(later(check.seq, 1), `the branch should reach seq ${summary.head}, but ends at ${check.seq}`);
    if (check.digest !== summary.digest)
      throw new Bad(check.seq, "the branch's head digest is not that of its last event");
    if (options.head !== undefined && !check.hasHeld)
      throw new Bad(
        check.seq,
        `no point of the branch has the digest ${options.head.slice(0, 12)}…: the tail was cut or the chain was rewritten`,
      );
    return { ok: true, events: check.seq, digest: check.digest, firstBad: null, reason: null, notCovered };
  } catch (error) {
    if (!(error instanceof Bad)) throw error;
    return {
      ok: false,
      events: Math.max(0, error.seq - 1),
      digest: null,
      firstBad: error.seq,
      reason: error.message,
      notCovered,
    };
  }
}

/** A branch the listing does not have: the error that looking it up gives. */
async function verifyMissing(engine: Engine, session: string, branch: string): Promise<never> {
  await branchRecord(engine, session, branch);
  throw new RepriseError('branch.not-found', `Cannot find branch "${branch}" in session "${session}"`);
}

/** The lineage of a branch by its parent pointers alone, which the chain then proves or refutes. */
function stretchesOf(branches: ReadonlyMap<string, BranchSummary>, last: BranchSummary): Stretch[] {
  const stretches: Stretch[] = [];
  let held: BranchSummary | undefined = last;
  let through = last.head;
  while (held !== undefined) {
    const { parent, branch }: BranchSummary = held;
    stretches.push({ branch, after: parent?.seq ?? beginning, through, isFork: parent !== undefined });
    if (stretches.length > limits.lineageDepthMax || (parent !== undefined && parent.seq > through))
      throw new Bad(through, `the lineage of "${branch}" does not lead to a beginning`);
    through = parent?.seq ?? beginning;
    held = parent === undefined ? undefined : branches.get(parent.branch);
    if (parent !== undefined && held === undefined)
      throw new Bad(later(parent.seq, 1), `"${branch}" was forked from "${parent.branch}", which is missing`);
  }
  return stretches.reverse();
}

interface Erasures {
  readonly events: ReadonlySet<string>;
  readonly parts: ReadonlySet<string>;
}

/** What `payload.erased` events account for, on every branch: a child's ancestors may have been erased after the fork. */
async function erasures(
  engine: Engine,
  session: string,
  branches: ReadonlyMap<string, BranchSummary>,
): Promise<Erasures> {
  const events = new Set<string>();
  const parts = new Set<string>();
  for (const { branch, parent, head } of branches.values()) {
    const segment = { branch, after: parent?.seq ?? beginning, through: head, except: [], carried: false };
    let cursor: Cursor | undefined;
    do {
      const page = await engine.store.read(sessionRef(engine, session), [segment], {
        limit: limits.pageEventsMax,
        select: 'full',
        direction: 'forward',
        filter: { types: ['payload.erased'] },
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const row of page.events) note(row, events, parts);
      cursor = page.next;
    } while (cursor !== undefined);
  }
  return { events, parts };
}

function note(row: StoredEvent, events: Set<string>, parts: Set<string>): void {
  try {
    const data = JSON.parse(row.data ?? '{}') as {
      readonly seqs?: readonly number[];
      readonly parts?: readonly string[];
    };
    for (const seq of data.seqs ?? []) events.add(`${row.branch}@${seq}`);
    for (const digest of data.parts ?? []) parts.add(digest);
  } catch {
    // A marker that cannot be read accounts for nothing; its own place in the chain shows that it was changed.
  }
}

/** The chain so far, checked event by event. */
class ChainCheck {
  digest: Digest = '' as Digest;
  seq: Seq = beginning;
  /** Whether some point had the digest that is held elsewhere. */
  hasHeld = false;
  readonly #engine: Engine;
  readonly #session: string;
  readonly #erasures: Erasures;
  readonly #held: string | undefined;
  readonly #goodParts = new Set<Digest>();

  constructor(engine: Engine, session: string, erased: Erasures, held: string | undefined) {
    this.#engine = engine;
    this.#session = session;
    this.#erasures = erased;
    this.#held = held;
  }

  begin(genesis: Digest): void {
    this.digest = genesis;
    this.hasHeld = genesis === this.#held;
  }

  async stretch({ branch, after, through, isFork }: Stretch): Promise<void> {
    const segment = { branch, after, through, except: [], carried: false };
    let cursor: Cursor | undefined;
    do {
      const page = await this.#engine.store.read(sessionRef(this.#engine, this.#session), [segment], {
        limit: limits.pageEventsMax,
        select: 'proof',
        direction: 'forward',
        ...(cursor === undefined ? {} : { cursor }),
      });
      await this.#page(page.events, isFork ? later(after, 1) : beginning);
      cursor = page.next;
    } while (cursor !== undefined);
    if (this.seq !== through) throw new Bad(later(this.seq, 1), `seq ${this.seq + 1} of "${branch}" is missing`);
  }

  /** Checks a page in three ways and throws the earliest of what they find. */
  async #page(rows: readonly StoredEvent[], forkedAt: Seq): Promise<void> {
    const found: Bad[] = [];
    const look = async (check: () => void | Promise<void>): Promise<void> => {
      try {
        await check();
      } catch (error) {
        if (!(error instanceof Bad)) throw error;
        found.push(error);
      }
    };
    await look(() => {
      for (const row of rows) this.#event(row, row.seq === forkedAt);
    });
    const good = rows.filter((row) => row.seq <= this.seq);
    await look(() => this.#checkCauses(good));
    await look(() => this.#checkParts(good));
    const [first] = found.sort((a, b) => a.seq - b.seq);
    if (first !== undefined) throw first;
  }

  #event(row: StoredEvent, isFirst: boolean): void {
    const seq = later(this.seq, 1);
    if (row.seq !== seq) throw new Bad(seq, `seq ${seq} of "${row.branch}" is missing`);
    const { sha256 } = this.#engine.platform;
    const dataDigest = this.#dataDigest(row);
    const { id, type, version, time, agent, run, turn, cause } = row;
    const previous = this.digest;
    if (
      chainDigest(sha256, previous, { seq, id, type, version, time, agent, run, turn, cause, dataDigest }) !==
      row.digest
    ) {
      throw new Bad(seq, `seq ${seq} ("${type}") is not what was recorded`);
    }
    if (isFirst && type === 'branch.forked') this.#checkFork(row, previous);
    if (row.digest === this.#held) this.hasHeld = true;
    this.digest = row.digest;
    this.seq = seq;
  }

  #dataDigest(row: StoredEvent): Digest {
    if (row.data !== null && row.salt !== null && row.salt !== undefined)
      return dataDigestOf(this.#engine.platform.sha256, row.salt, row.data);
    if (!this.#erasures.events.has(`${row.branch}@${row.seq}`))
      throw new Bad(row.seq, `the payload of seq ${row.seq} is missing, and no erasure accounts for it`);
    return row.dataDigest as Digest;
  }

  #checkFork(row: StoredEvent, previous: Digest): void {
    const parent = (JSON.parse(row.data ?? '{}') as JsonObject)['parent'] as
      | { readonly seq?: number; readonly digest?: string }
      | undefined;
    if (parent?.digest !== previous || parent.seq !== row.seq - 1)
      throw new Bad(row.seq, `"${row.branch}" does not begin where its first event says`);
  }

  /** `causeSeq` is derived, so it is not in the digest: it must be where the cause really stands. */
  async #checkCauses(rows: readonly StoredEvent[]): Promise<void> {
    const claims = rows.filter((row) => row.cause !== null && row.causeSeq !== null);
    if (claims.length === 0) return;
    const places = await this.#engine.store.locate(sessionRef(this.#engine, this.#session), [
      ...new Set(claims.map((row) => row.cause as string)),
    ]);
    for (const row of claims) {
      if (places.get(row.cause as string)?.seq !== row.causeSeq)
        throw new Bad(row.seq, `the cause of seq ${row.seq} does not stand where it says`);
    }
  }

  async #checkParts(rows: readonly StoredEvent[]): Promise<void> {
    const owner = new Map<Digest, Seq>();
    for (const { data, seq } of rows)
      if (data !== null && mayHoldRefs(data))
        for (const digest of refsIn(data))
          if (!this.#goodParts.has(digest) && !owner.has(digest)) owner.set(digest, seq);
    const wanted = [...owner.keys()];
    for (let from = 0; from < wanted.length; from += limits.partsAskedMax) {
      const asked = wanted.slice(from, from + limits.partsAskedMax);
      const parts = await this.#engine.store.parts(sessionRef(this.#engine, this.#session), asked);
      for (const digest of asked) this.#checkPart(digest, parts, owner.get(digest) as Seq);
    }
  }

  #checkPart(first: Digest, parts: ReadonlyMap<Digest, PartInput>, seq: Seq): void {
    const open = [first];
    for (let digest = open.pop(); digest !== undefined; digest = open.pop()) {
      if (this.#goodParts.has(digest)) continue;
      const part = parts.get(digest);
      const isErased = this.#erasures.parts.has(digest);
      if (part === undefined && !isErased)
        throw new Bad(seq, `a part of seq ${seq} is missing, and no erasure accounts for it`);
      if (part !== undefined && !isErased && !this.#isWhole(part, parts))
        throw new Bad(seq, `a part of seq ${seq} is not what was recorded`);
      this.#goodParts.add(digest);
      if (part !== undefined) open.push(...part.refs);
    }
  }

  #isWhole(part: PartInput, parts: ReadonlyMap<Digest, PartInput>): boolean {
    const text = part.kind === 'delta' ? bodyText(part, (digest) => parts.get(digest)) : part.text;
    return text !== undefined && dataDigestOf(this.#engine.platform.sha256, part.salt ?? '', text) === part.digest;
  }
}
