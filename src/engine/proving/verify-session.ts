import { limits } from '../../core/limits.ts';
import { genesisDigest } from '../../core/parts/digest.ts';
import { beginning, type Digest, later, type Point, type Seq } from '../../core/point.ts';
import type { BranchSummary, SessionRecord } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { digestAt, findPlace, sessionRecord } from '../history/place.ts';
import { ChainCheck } from './verify-chain.ts';
import { Bad } from './verify-damage.ts';
import { type Debt, erasuresOf, forgedErasure } from './verify-erasures.ts';

/** The first damage of one branch. */
export interface BranchDamage {
  readonly branch: string;
  readonly seq: Seq;
  readonly reason: string;
}

/** How to check a session. */
export interface SessionCheck {
  /** Checks only these branches; all if left out. Takes the points that they were forked at as they are stored. */
  readonly names?: ReadonlySet<string>;
  /** Called before each branch. */
  readonly onBranch?: (branch: BranchSummary) => void;
}

/**
 * Checks every branch of a session and returns the first damage of each. A branch continues from the point of its parent
 * that it was forked at, so that each event is read once, however many branches there are.
 */
export async function verifySession(
  engine: Engine,
  session: string,
  { names, onBranch }: SessionCheck = {},
): Promise<BranchDamage[]> {
  const record = await sessionRecord(engine, session);
  const summaries = await engine.store.branches(sessionRef(engine, session));
  const wanted = names === undefined ? summaries : summaries.filter(({ branch }) => names.has(branch));
  const check = new BranchesCheck(engine, record, summaries, { isPartial: names !== undefined });
  await check.begin();
  const found: BranchDamage[] = [];
  if (!summaries.some(({ branch }) => branch === record.root))
    found.push({
      branch: record.root,
      seq: beginning,
      reason: `the session began with "${record.root}", which is missing`,
    });
  for (const summary of wanted) {
    onBranch?.(summary);
    const bad = await check.branch(summary);
    if (bad !== undefined) found.push({ branch: summary.branch, seq: bad.seq, reason: bad.message });
  }
  return [...found, ...check.forged()];
}

/** Checks the branches of a session one after the other, parents first. */
class BranchesCheck {
  readonly #engine: Engine;
  readonly #record: SessionRecord;
  readonly #branches: ReadonlyMap<string, BranchSummary>;
  /** The digests at the points that branches were forked at, as far as they are known to be good. */
  readonly #starts = new Map<string, Digest>();
  readonly #forks: ReadonlySet<string>;
  /** How far each branch is good. */
  readonly #reached = new Map<string, Seq>();
  readonly #debts: (Debt & { readonly branch: string })[] = [];
  #check: ChainCheck | undefined;

  readonly #isPartial: boolean;

  constructor(
    engine: Engine,
    record: SessionRecord,
    summaries: readonly BranchSummary[],
    { isPartial }: { readonly isPartial: boolean },
  ) {
    this.#engine = engine;
    this.#isPartial = isPartial;
    this.#record = record;
    this.#branches = new Map(summaries.map((held) => [held.branch, held]));
    this.#forks = new Set(summaries.flatMap(({ parent }) => (parent === undefined ? [] : [nameOf(parent)])));
  }

  async begin(): Promise<void> {
    const { session, root, genesis } = this.#record;
    const erasures = await erasuresOf(this.#engine, this.#record, this.#branches.values());
    this.#starts.set(nameOf({ branch: root, seq: beginning }), genesis);
    this.#check = new ChainCheck(this.#engine, session, erasures, {
      onLink: (row) => {
        if (this.#forks.has(nameOf(row))) this.#starts.set(nameOf(row), row.digest);
      },
    });
  }

  /** Checks the events that one branch stores itself. */
  async branch(summary: BranchSummary): Promise<Bad | undefined> {
    const check = this.#check as ChainCheck;
    try {
      await this.#own(check, summary);
      return undefined;
    } catch (error) {
      if (error instanceof Bad) return error;
      throw error;
    } finally {
      this.#reached.set(summary.branch, check.seq);
      this.#debts.push(...check.debts.splice(0).map((debt) => ({ ...debt, branch: summary.branch })));
    }
  }

  /** Returns the losses that no good marker accounts for: the first of each branch. */
  forged(): BranchDamage[] {
    const headOf = (branch: string): Seq =>
      (this.#isPartial ? this.#branches.get(branch)?.head : undefined) ?? beginning;
    const isSound = ({ branch, seq }: Point): boolean => seq <= (this.#reached.get(branch) ?? headOf(branch));
    const found = new Map<string, BranchDamage>();
    for (const { branch, seq, markers } of this.#debts) {
      if (markers.some(isSound) || (found.get(branch)?.seq ?? seq) < seq) continue;
      found.set(branch, { branch, seq, reason: forgedErasure(seq).message });
    }
    return [...found.values()];
  }

  async #own(check: ChainCheck, summary: BranchSummary): Promise<void> {
    const { branch, parent, head, digest } = summary;
    const after = parent?.seq ?? beginning;
    const start = await this.#startOf(summary);
    check.continueAt(after, start ?? this.#record.genesis);
    if (start === undefined) throw new Bad(later(after, 1), missingStart(summary, this.#record));
    await check.stretch({ branch, after, through: head, isFork: parent !== undefined }, (point) =>
      this.#leads(summary, point),
    );
    if (check.digest !== digest) throw new Bad(check.seq, "the branch's head digest is not that of its last event");
  }

  async #startOf({ branch, parent }: BranchSummary): Promise<Digest | undefined> {
    const { session, root, genesis, seed } = this.#record;
    if (parent !== undefined) {
      const isChecked = parent.seq === beginning || this.#reached.has(parent.branch);
      if (!isChecked && this.#isPartial)
        return await digestAt(this.#engine, await findPlace(this.#engine, session, parent));
      return this.#starts.get(nameOf(parent.seq === beginning ? { branch: root, seq: beginning } : parent));
    }
    return branch === root && genesisDigest(this.#engine.platform.sha256, seed) === genesis ? genesis : undefined;
  }

  /** Goes up from a branch; nearly every cause is on the branch itself or on its parent. */
  #leads({ parent }: BranchSummary, point: Point): boolean {
    let at = parent;
    for (let depth = 0; at !== undefined && depth <= limits.lineageDepthMax; depth++) {
      const held: BranchSummary | undefined = this.#branches.get(at.branch);
      if (at.branch === point.branch) return point.seq <= at.seq && point.seq > (held?.parent?.seq ?? beginning);
      at = held?.parent;
    }
    return false;
  }
}

const nameOf = ({ branch, seq }: Point): string => `${branch}@${seq}`;

function missingStart({ branch, parent }: BranchSummary, { root }: SessionRecord): string {
  if (parent !== undefined)
    return `"${branch}" was forked from "${parent.branch}" at seq ${parent.seq}, which is missing or damaged`;
  return branch === root
    ? "the session's genesis does not match its seed"
    : `the session began with "${branch}", not with "${root}"`;
}
