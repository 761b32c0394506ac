import { type ErrorJson, hasCode, RepriseError } from '../../core/error.ts';
import { agentHolds } from '../../core/event/filter.ts';
import { project } from '../../core/event/projection.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import type { Seq } from '../../core/point.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import type { SessionsPage } from '../../core/store/session-request.ts';
import { isoTime } from '../../core/time.ts';
import { fold, folds } from '../../engine/history/fold.ts';
import { placeAtHead } from '../../engine/history/place.ts';
import { sightAt } from '../../engine/history/sight.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { engineOf, type Session } from '../../engine/session.ts';
import { type Activity, activity } from '../../projections/activity.ts';
import { type Summary, summary } from '../../projections/summary.ts';
import { waiting } from '../../projections/waiting.ts';
import { branchesOf } from '../branch-tree.ts';
import { isChangedSince } from '../changed-sessions.ts';
import { cutText, cutValue } from './cut-value.ts';

/** One session in a list, with the facts of the branch it began with. */
export interface SessionRow
  extends Pick<
    Summary,
    | 'title'
    | 'startedAt'
    | 'endedAt'
    | 'durationMs'
    | 'events'
    | 'turns'
    | 'agents'
    | 'outcome'
    | 'silentSince'
    | 'erased'
  > {
  readonly namespace: string;
  readonly session: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The branch the session began with. */
  readonly branch: string;
  readonly head: Seq;
  /** How many branches there are. */
  readonly branches: number;
  /** The branch that was last appended to. */
  readonly lastBranch: string;
  readonly usage: Summary['spending'];
  /** The questions that wait for a person; long ones are cut. */
  readonly waiting: readonly WaitingCall[];
  readonly activity: Activity;
  /** Why the session cannot be read; null if it can. */
  readonly error: ErrorJson | null;
}

/** Which sessions to list. Every condition that is given must be met. */
export interface SessionFilter {
  /** Found in the id, the title or an agent, whatever its case. */
  readonly text?: string;
  /** An agent that took part; `~text` matches a part of its id. */
  readonly agent?: string;
  readonly outcome?: string;
  /** Appended to at or after this time. */
  readonly since?: string;
  /** Appended to at or before this time. */
  readonly until?: string;
}

const filterKeys: KnownKeys = optionKeys<SessionFilter>(
  'list sessions',
  { text: 'text', agent: 'text', outcome: 'text', since: 'text', until: 'text' },
  'a filter of sessions',
);

/** A page of sessions. */
export interface SessionPage {
  readonly rows: readonly SessionRow[];
  /** Where the next page begins; undefined if this is the last. */
  readonly next: string | undefined;
}

/** Rows in one page. */
const rowsMax = 100;
/** Sessions that one page reads to find its rows. */
const readMax = 500;

/** Lists sessions, last appended to first, a page at a time. A page of a narrow filter may be empty and not the last. */
export async function sessionPage(
  reprise: Reprise,
  {
    filter = {},
    cursor,
    limit = rowsMax,
  }: { readonly filter?: SessionFilter; readonly cursor?: string | undefined; readonly limit?: number },
): Promise<SessionPage> {
  checkKeys(filter, filterKeys);
  const { since, until } = given({ since: filter.since, until: filter.until });
  const [from, to] = [since === undefined ? '' : isoTime(since), until === undefined ? '' : isoTime(until)];
  const rows: SessionRow[] = [];
  const wanted = Math.min(limit, rowsMax);
  const isFitting = (record: SessionRecord): boolean =>
    isChangedSince(record, from) && (to === '' || record.updatedAt <= to);
  const isTimed = from !== '' || to !== '';
  let next = cursor === '' ? undefined : cursor;
  let [read, pages] = [0, 0];
  do {
    const request = { count: wanted - rows.length, cursor: next };
    const page = await (isTimed ? fittingRecords(reprise, request, isFitting) : recordsFrom(reprise, request));
    for (const record of page.sessions) {
      const row = await sessionRow(reprise, record).catch(gone);
      if (row !== undefined && isWanted(row, filter)) rows.push(row);
      read++;
    }
    next = page.next;
    pages++;
  } while (next !== undefined && rows.length < wanted && read < readMax && pages < pagesMax);
  return { rows, next };
}

/** Pages of the store that one page of a narrow filter reads. */
const pagesMax = 50;

interface RecordsRequest {
  readonly count: number;
  readonly cursor: string | undefined;
}

function recordsFrom(reprise: Reprise, { count, cursor }: RecordsRequest): Promise<SessionsPage> {
  return reprise.sessionsPage({ limit: count, ...given({ cursor }) });
}

/** Reads records that fit from a large page of the store, up to as many as are wanted. */
async function fittingRecords(
  reprise: Reprise,
  { count, cursor }: RecordsRequest,
  isFitting: (record: SessionRecord) => boolean,
): Promise<SessionsPage> {
  const page = await recordsFrom(reprise, { count: limits.sessionsPageMax, cursor });
  const sessions = page.sessions.filter(isFitting).slice(0, count);
  const last = sessions.length < count ? undefined : sessions.at(-1);
  // Only a page that ends with the last one has the cursor behind it.
  const cut =
    last === undefined ? page : await recordsFrom(reprise, { count: page.sessions.indexOf(last) + 1, cursor });
  return { sessions, ...given({ next: cut.next }) };
}

/** Skips a session that was deleted since it was listed. */
function gone(error: unknown): undefined {
  if (!hasCode(error, 'session.not-found')) throw error;
}

type ListedRecord = Pick<SessionRecord, 'session' | 'root' | 'namespace' | 'createdAt' | 'updatedAt'>;

/** Reads the row of a session. One that is damaged has a row with its error, so that the others can be listed. */
export async function sessionRow(reprise: Reprise, record: ListedRecord): Promise<SessionRow> {
  const session = await reprise.session(record.session);
  const nodes = await branchesOf(session);
  const last = nodes.reduce((latest, node) => (node.updatedAt > latest.updatedAt ? node : latest));
  const { namespace, session: id, root: branch, createdAt, updatedAt } = record;
  const head = nodes.find((node) => node.branch === branch)?.head ?? (0 as Seq);
  const about = { namespace, session: id, createdAt, updatedAt, branch, head };
  return { ...about, branches: nodes.length, lastBranch: last.branch, ...(await foldedFacts(session, branch)) };
}

type FoldedFacts = Omit<SessionRow, keyof ListedRecord | 'branch' | 'head' | 'branches' | 'lastBranch'>;

/** Reads the facts of a row that are folded from events. */
async function foldedFacts(session: Session, branch: string): Promise<FoldedFacts> {
  try {
    const engine = engineOf(session);
    const sight = sightAt(engine, await placeAtHead(engine, session.id, branch));
    const held = await folds(sight, { summary, activity });
    const calls = held.summary.outcome === 'waiting' ? (await fold(sight, waiting)).calls : [];
    return factsOf(held.summary, calls, held.activity, null);
  } catch (error) {
    if (!(error instanceof RepriseError) || hasCode(error, 'session.not-found')) throw error;
    return factsOf(project(summary, []), [], project(activity, []), error.toJSON());
  }
}

function factsOf(held: Summary, calls: readonly WaitingCall[], busy: Activity, error: ErrorJson | null): FoldedFacts {
  const { title, startedAt, endedAt, durationMs, events, turns, agents, outcome, silentSince, erased, spending } = held;
  const words = { title: shownWords(title), outcome: shownWords(outcome) };
  const facts = { startedAt, endedAt, durationMs, events, turns, agents, silentSince, erased };
  return { ...facts, ...words, usage: spending, waiting: shownCalls(calls), activity: busy, error };
}

/** Characters of the title, the reason or the outcome of a row. */
const wordsMax = 1_000;

/** Returns words of a row, cut if they are long. */
export function shownWords(words: string | null): string | null {
  return words === null ? null : cutText(words, wordsMax);
}

/** Characters of the questions of a row, and of one text in them. */
const waitingMax = { whole: 16_384, text: 4_096 };

function shownCalls(calls: readonly WaitingCall[]): readonly WaitingCall[] {
  return cutValue(JSON.parse(JSON.stringify(calls)) as JsonValue, waitingMax).value as unknown as WaitingCall[];
}

function isWanted(row: SessionRow, { text, agent, outcome }: SessionFilter): boolean {
  if (agent !== undefined && !row.agents.some((id) => agentHolds(agent, id))) return false;
  if (outcome !== undefined && row.outcome !== outcome) return false;
  if (text === undefined || text === '') return true;
  const wanted = text.toLowerCase();
  return [row.session, row.title ?? '', ...row.agents].some((held) => held.toLowerCase().includes(wanted));
}
