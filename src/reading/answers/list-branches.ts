import { parseJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import { agentHolds, compileFields, type FieldPattern } from '../../core/event/filter.ts';
import { given, isObject } from '../../core/json.ts';
import { nearest } from '../../core/nearest.ts';
import type { Point, Seq } from '../../core/point.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import type { Spending } from '../../core/recording/spending.ts';
import type { BranchNode } from '../../core/session/session-log.ts';
import type { BranchSummary, SessionRecord } from '../../core/store/event-store.ts';
import { sessionNotFound } from '../../core/store/session-request.ts';
import type { Engine } from '../../engine/context/engine.ts';
import { fold } from '../../engine/history/fold.ts';
import type { Sight } from '../../engine/history/sight.ts';
import { sightAtHead } from '../../engine/history/snapshot.ts';
import { reasonsOf } from '../../engine/looking/lineage.ts';
import { treeOf } from '../../engine/looking/tree.ts';
import { listedSession, type Reprise } from '../../engine/reprise.ts';
import { engineOf, type Session } from '../../engine/session.ts';
import { type Summary, summary } from '../../projections/summary.ts';
import { waiting } from '../../projections/waiting.ts';
import { archivedBranches } from '../archived-branches.ts';
import { type DrawnBranch, drawnBranches } from '../branch-tree.ts';
import { isChangedSince } from '../changed-sessions.ts';
import { workedAhead } from './worked-ahead.ts';

/** One branch in a listing, as `reprise list --json` prints it. */
export interface ListRow {
  /** Only in a listing of all namespaces. */
  readonly namespace?: string;
  readonly session: string;
  readonly branch: string;
  /** Null for the branch the session began with. */
  readonly parent: Point | null;
  readonly title: string | null;
  readonly events: number;
  readonly head: Seq;
  readonly bytes: number;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly durationMs: number | null;
  readonly outcome: string | null;
  /** The questions that wait for a person, if the last run ended `waiting`. */
  readonly waiting: readonly WaitingCall[];
  readonly agents: readonly string[];
  readonly git: Summary['git'];
  readonly usage: Spending;
  readonly fingerprint: string;
  /** How many branches the session has, archived ones left out unless they are listed. */
  readonly branches: number;
  readonly archived: boolean;
}

/** A whole listing as one object. */
export interface ListAnswer {
  readonly branches: readonly ListRow[];
}

/** The names of the fields of a row, which are the fields a listing can be filtered by. */
const rowFields = {
  session: true,
  branch: true,
  parent: true,
  title: true,
  events: true,
  head: true,
  bytes: true,
  startedAt: true,
  endedAt: true,
  durationMs: true,
  outcome: true,
  waiting: true,
  agents: true,
  git: true,
  usage: true,
  fingerprint: true,
  branches: true,
  archived: true,
} as const satisfies Record<Exclude<keyof ListRow, 'namespace'>, true>;

/** Which branches to list. Every condition that is given must be met. */
export interface ListQuery {
  /** Lists at most this many sessions. */
  readonly limit: number;
  /** Lists only sessions that were appended to at or after this time. */
  readonly since?: string;
  /** Lists the sessions of every namespace. */
  readonly allNamespaces?: boolean;
  /** Matches branches that the agent took part in; `~text` matches a part of its id. */
  readonly agent?: string;
  readonly outcome?: string;
  /** Lists one row for each session: of its first branch, or of the first that matches. */
  readonly folds?: boolean;
  /** Matches branches that wait for a person. */
  readonly waiting?: boolean;
  /** Lists archived branches too. */
  readonly archived?: boolean;
  /** Matches fields of the row. */
  readonly fields?: readonly FieldPattern[];
  /** Matches rows whose JSON contains the text, in any case. */
  readonly search?: string;
}

/** A branch that was listed, with its session open. */
export interface ListedBranch extends DrawnBranch {
  readonly record: SessionRecord;
  readonly session: Session;
  readonly summary: Summary;
  /** The questions that wait for a person, if its last run ended `waiting`. */
  readonly waiting: readonly WaitingCall[];
  /** How many branches its session has. */
  readonly branches: number;
  readonly archived: boolean;
}

type Test = (branch: ListedBranch) => Promise<boolean>;

/**
 * Lists branches one session at a time, the session last appended to first. The returned value says whether the limit
 * left sessions out. A filter that cannot match anything is refused before the first session is read.
 */
export function listBranches(
  reprise: Reprise,
  query: ListQuery,
): AsyncGenerator<readonly ListedBranch[], boolean, undefined> {
  return listed(reprise, query, rowTest(query));
}

async function* listed(
  reprise: Reprise,
  { limit, since, allNamespaces = false, folds = false, archived = false }: ListQuery,
  isWanted: Test,
): AsyncGenerator<readonly ListedBranch[], boolean, undefined> {
  let count = 0;
  const records = recordsSince(reprise, allNamespaces, since);
  // One more than the limit shows whether sessions are left out.
  const found = workedAhead(records, Math.min(limit + 1, sessionsAtOnce), (record) =>
    branchesOfSession(reprise, record, { archived, folds, isWanted }),
  );
  for await (const branches of found) {
    if (count >= limit) return true;
    if (branches.length === 0) continue;
    count += 1;
    yield branches;
  }
  return false;
}

/** Sessions that are read at once. */
const sessionsAtOnce = 64;

async function* recordsSince(
  reprise: Reprise,
  allNamespaces: boolean,
  since: string | undefined,
): AsyncGenerator<SessionRecord, void, undefined> {
  for await (const record of reprise.sessions({ allNamespaces }))
    if (since === undefined || isChangedSince(record, since)) yield record;
}

async function branchesOfSession(
  reprise: Reprise,
  record: SessionRecord,
  { archived, folds, isWanted }: { readonly archived: boolean; readonly folds: boolean; readonly isWanted: Test },
): Promise<ListedBranch[]> {
  // The record was just listed: the session is not asked for again.
  const session = listedSession(reprise, record);
  const engine = engineOf(session);
  const branches = await engine.store.branches(record);
  if (branches.length === 0) throw sessionNotFound(record);
  const ahead = new SummariesAhead(engine, record, branches);
  const atOnce = folds ? 1 : branchesAtOnce;
  // A branch is created after its parent, so the first ones are those that are mostly shown first.
  for (const { branch } of branches.slice(0, atOnce)) ahead.begin(branch);
  const shown = await shownBranches(session, record, branches, archived);
  const found: ListedBranch[] = [];
  for (const [index, { drawn, isArchived }] of shown.entries()) {
    for (const { drawn: next } of shown.slice(index, index + atOnce)) ahead.begin(next.node.branch);
    const { sight, held } = await ahead.of(drawn.node.branch);
    const waits = held.outcome === 'waiting' ? (await fold(sight, waiting)).calls : [];
    const about = { summary: held, waiting: waits, branches: shown.length, archived: isArchived };
    const branch = { ...drawn, record, session, ...about };
    if (await isWanted(branch)) found.push(branch);
    if (folds && found.length > 0) break;
  }
  return found;
}

/** Branches of one session that are looked up at once. */
const branchesAtOnce = 16;

/** A branch at its head, and its summary. */
interface Summarized {
  readonly sight: Sight;
  readonly held: Summary;
}

/** Reads the summaries of branches ahead of their turn: over a network, each mostly waits. */
class SummariesAhead {
  readonly #engine: Engine;
  readonly #record: SessionRecord;
  readonly #branches: ReadonlyMap<string, BranchSummary>;
  readonly #begun = new Map<string, Promise<Summarized>>();

  constructor(engine: Engine, record: SessionRecord, branches: readonly BranchSummary[]) {
    this.#engine = engine;
    this.#record = record;
    this.#branches = new Map(branches.map((held) => [held.branch, held]));
  }

  begin(branch: string): void {
    if (this.#begun.has(branch)) return;
    const summarized = this.#read(branch);
    // A failure shows when its turn comes.
    summarized.catch(() => undefined);
    this.#begun.set(branch, summarized);
  }

  /** Returns the summary of a branch, and forgets it. */
  async of(branch: string): Promise<Summarized> {
    this.begin(branch);
    const summarized = this.#begun.get(branch) as Promise<Summarized>;
    this.#begun.delete(branch);
    return summarized;
  }

  async #read(branch: string): Promise<Summarized> {
    const sight = await sightAtHead(this.#engine, this.#record, this.#lineage(branch), [summary, waiting]);
    return { sight, held: await fold(sight, summary) };
  }

  #lineage(branch: string): BranchSummary[] {
    const lineage: BranchSummary[] = [];
    for (let at = this.#branches.get(branch); at !== undefined; at = this.#branches.get(at.parent?.branch ?? ''))
      lineage.push(at);
    return lineage;
  }
}

/** Lists the branches of a session, each below its parent. A hidden one still shows where something grows from it. */
async function shownBranches(
  session: Session,
  record: SessionRecord,
  summaries: readonly BranchSummary[],
  withArchived: boolean,
): Promise<readonly { readonly drawn: DrawnBranch; readonly isArchived: boolean }[]> {
  const branches: { readonly drawn: DrawnBranch; readonly isArchived: boolean }[] = [];
  const listed = summaries.map(({ branch, head, parent = null }) => ({ branch, head, parent }));
  const [reasons, archived] = await Promise.all([
    reasonsOf(engineOf(session), record.session, summaries),
    archivedBranches(session, listed),
  ]);
  const tree = treeOf(record, summaries, reasons);
  for (const drawn of drawnBranches(tree)) {
    const isArchived = archived.has(drawn.node.branch);
    const isBare = drawn.node.children.every((child) => archived.has(child.branch));
    if (withArchived || !isArchived || !isBare) branches.push({ drawn, isArchived });
  }
  return branches;
}

/** Checks the fields and patterns of a query. */
export function checkListQuery({ fields = [] }: Pick<ListQuery, 'fields'>): void {
  const names = Object.keys(rowFields);
  for (const { key } of fields) {
    const [name = ''] = key.split('.');
    if (names.includes(name)) continue;
    const near = nearest(name, names);
    throw new RepriseError('filter.invalid', `Cannot filter the list by "${name}": a row has no such field`, {
      hint: near === undefined ? `The fields are ${names.join(', ')}.` : `Did you mean "${near}"?`,
    });
  }
  compileFields(fields);
}

function rowTest(query: ListQuery): Test {
  checkListQuery(query);
  const { agent, outcome, fields = [] } = query;
  const search = query.search?.toLowerCase();
  const fieldsHold = compileFields(fields);
  const needsFingerprint = fields.some(({ key }) => key === 'fingerprint');
  return async (branch) => {
    const { agents, outcome: ended } = branch.summary;
    if (agent !== undefined && !agents.some((id) => agentHolds(agent, id))) return false;
    if (outcome !== undefined && ended !== outcome) return false;
    if (query.waiting === true && branch.waiting.length === 0) return false;
    if (fields.length === 0 && search === undefined) return true;
    const text = JSON.stringify(needsFingerprint ? await listRow(branch) : rowOf(branch));
    const row = parseJson(text);
    return isObject(row) && fieldsHold(row) && (search === undefined || text.toLowerCase().includes(search));
  };
}

/** Reads the row of a branch; folding its fingerprint takes as long as its history. */
export async function listRow(
  branch: ListedBranch,
  { hasNamespace = false }: { readonly hasNamespace?: boolean } = {},
): Promise<ListRow> {
  const namespace = hasNamespace ? branch.record.namespace : undefined;
  const fingerprint = await branch.session.branch(branch.node.branch).fingerprint();
  const { branches, archived, ...row } = rowOf(branch);
  return { ...given({ namespace }), ...row, fingerprint, branches, archived };
}

function rowOf(listed: ListedBranch): Omit<ListRow, 'fingerprint'> {
  const { session, node, summary: held, waiting: waits, branches, archived } = listed;
  const { branch, parent, head, bytes }: BranchNode = node;
  const { title, events, startedAt, endedAt, durationMs, outcome, agents, git, spending: usage } = held;
  const times = { startedAt, endedAt, durationMs };
  const about = { outcome, waiting: waits, agents, git, usage };
  return { session: session.id, branch, parent, title, events, head, bytes, ...times, ...about, branches, archived };
}
