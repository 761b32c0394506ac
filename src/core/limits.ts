import { RepriseError } from './error.ts';
import { utf8Length } from './utf8.ts';

/**
 * Every maximum of the system. Reaching one is the error `limit.exceeded`, which names it.
 *
 * @example
 * ```ts
 * console.log(`An event holds at most ${limits.payloadBytesMax} bytes.`);
 * ```
 */
export const limits = {
  /** Bytes of an id or name: session, branch, namespace, agent, run, event id, call. */
  idBytesMax: 200,
  /** Bytes of an event type. */
  typeBytesMax: 100,
  /** Bytes of one event's data as canonical JSON. */
  payloadBytesMax: 16_777_216,
  /** Levels of nesting in a JSON value. */
  jsonDepthMax: 128,
  /** Events in one append. */
  appendEventsMax: 10_000,
  /** Bytes of all events and parts in one append. */
  appendBytesMax: 67_108_864,
  /** Keys one event is indexed under. */
  eventKeysMax: 10_000,
  /** Bytes of an indexed key. */
  keyBytesMax: 2_048,
  /** Keys and prefixes in one `unchanged` condition or one `latest` question. */
  selectedKeysMax: 10_000,
  /** Events in one page of a read. */
  pageEventsMax: 1_000,
  /** Bytes of payload in one page of a read; a single larger event still makes a page of its own. */
  pageBytesMax: 4_194_304,
  /** Stored events a filtered page may look at before it comes back with what it found. */
  pageScanMax: 20_000,
  /** Part digests in one question. */
  partsAskedMax: 1_000,
  /** Parts in one answer; together they have `pageBytesMax` bytes at most, or are one larger part. */
  partsPageMax: 10_000,
  /** Bytes from which a part is stored by its digest; smaller ones stay inline. */
  partBytesMin: 512,
  /** Characters of whole bodies that one decoder keeps to put later ones together. */
  bodiesKeptMax: 33_554_432,
  /** Characters of whole bodies after which a batch of decoded events is handed out. */
  batchBodiesMax: 16_777_216,
  /** Nodes of a linked message list, or of a chain of body deltas. */
  partChainMax: 100_000,
  /** Characters of long texts whose masks are remembered, so that what a conversation repeats is searched once. */
  maskedTextsMax: 8_388_608,
  /** Bytes of a filter's regular expression or text. */
  filterTextMax: 1_000,
  /** Instructions that a filter's regular expression comes to, with counted repetitions written out. */
  filterPatternMax: 2_000,
  /** Pairs of events that an exact alignment looks at in one stretch of a diff; longer stretches are cut into windows. */
  diffCellsMax: 16_384,
  /** Changed pairs of a diff that come with their changed fields; the rest is compared when asked for. */
  diffDetailsMax: 1_000,
  /** Items of two arrays together that a diff of states aligns by content; longer ones are compared by index. */
  diffItemsMax: 20_000,
  /** Conversations kept at a time, one an agent and run; the least recently used one goes first. */
  conversationLanesMax: 64,
  /** Runs that are remembered because a resume may continue them, or because they continued another. */
  runsRememberedMax: 1_000,
  /** Structural events that one branch may hold. */
  markersMax: 100_000,
  /** Branches between a branch and the beginning of its session. */
  lineageDepthMax: 10_000,
  /** Appends waiting in one store to share the next transaction. */
  queuedAppendsMax: 10_000,
  /** Events since the last snapshot before another is worth keeping. */
  snapshotEventsMin: 256,
  /** Bytes of events since the last snapshot, as a multiple of the snapshot's own size. */
  snapshotBytesFactor: 4,
  /** Bytes of a snapshot that is worth keeping. */
  snapshotBytesMax: 16_777_216,
  /** Events that a listing may have to fold: whenever a branch has so many more, its summary is kept. */
  summaryEventsMax: 1_000,
  /** Branches whose summaries go on in memory while a process appends to them; the oldest one goes first. */
  summariesRunningMax: 1_000,
  /** Events that a first look at a conversation may have to fold, while it is recorded by this release. */
  conversationEventsMax: 10_000,
  /** How long a snapshot waits for another process before it is left out. */
  snapshotWaitMsMax: 100,
  /** Characters of a foreign file that is imported. */
  importTextMax: 268_435_456,
  /** Bytes of a state key. */
  stateKeyBytesMax: 900,
  /** Bytes of a state value as canonical JSON. */
  stateValueBytesMax: 4_194_304,
  /** Writes and deletes in one transaction. */
  transactionOperationsMax: 5_000,
  /** Keys and prefixes that one transaction reads. */
  transactionReadsMax: 5_000,
  /** How long a transaction may stay open. */
  transactionMsMax: 86_400_000,
  /** Transactions that are open at a time in one store; one that has expired does not count. */
  openTransactionsMax: 10_000,
  /** Times that a transaction given as a function is run again after a conflict. */
  transactionRetriesMax: 100,
  /** Times that a commit is planned anew because others wrote the keys it writes. */
  commitTriesMax: 1_000,
  /** Sessions in one page of a listing. */
  sessionsPageMax: 1_000,
  /** How long an agent that was stopped may take to come to its own end, before it is left behind. */
  resumeGraceMsMax: 1_000,
  /** Branches of one experiment: variants times repeats. */
  experimentBranchesMax: 1_000,
  /** How long the command that checks a branch of an experiment may take, before it is ended and has failed. */
  checkMsMax: 600_000,
  /** Runs of one experiment that go on at the same time. */
  experimentParallelMax: 64,
  /** How long an append waits for another process before it is `store.busy`, unless `busyWaitMs` says otherwise. */
  busyWaitMsMax: 10_000,
  /** Events told to a recorder and not stored yet; whoever can wait waits, what cannot is not recorded. */
  recordQueueEventsMax: 10_000,
  /** Bytes of all events told to a recorder and not stored yet, about. */
  recordQueueBytesMax: 134_217_728,
  /** Times a recorder sends the same events to a store that is busy or failing. */
  recordAttemptsMax: 3,
  /** Errors of a recorder that are told and kept; later ones are only counted. */
  recordErrorsMax: 10,
  /** The longest wait that `busyWaitMs` can ask for. */
  busyWaitGivenMsMax: 600_000,
  /** Connections of one PostgreSQL store, unless `connections` says otherwise. */
  connectionsMax: 8,
  /** How long a connection to a PostgreSQL server may take to come about. */
  connectWaitMsMax: 10_000,
  /** How long a PostgreSQL server may work on one statement, unless `statementTimeoutMs` says otherwise. */
  statementMsMax: 30_000,
  /** Requests and answers that a scripted model server remembers; the oldest go first. */
  scriptedRequestsMax: 1_000,
} as const;

/** The name of one limit. */
export type LimitName = keyof typeof limits;

/** Throws `limit.exceeded` when a value is over a named limit. */
export function checkLimit(name: LimitName, actual: number, attempted: string): void {
  if (actual <= limits[name]) return;
  throw new RepriseError(
    'limit.exceeded',
    `Cannot ${attempted}: ${actual} is over the limit of ${limits[name]} ("${name}")`,
    {
      hint: `Keep it at or under ${limits[name]}.`,
      details: { limit: name, max: limits[name], actual },
    },
  );
}

/** Throws `limit.exceeded` when texts together have more bytes in UTF-8 than a named limit allows. */
export function checkBytes(name: LimitName, texts: readonly string[], attempted: string): void {
  if (
    isSurelyWithin(
      name,
      texts.reduce((units, text) => units + text.length, 0),
    )
  )
    return;
  checkLimit(
    name,
    texts.reduce((bytes, text) => bytes + utf8Length(text), 0),
    attempted,
  );
}

/** A UTF-16 unit is three bytes at most: nearly every text is known to be within a limit without being counted. */
export function isSurelyWithin(name: LimitName, units: number): boolean {
  return units * 3 <= limits[name];
}
