import { RepriseError } from './error.ts';
import { utf8Length } from './utf8.ts';

/**
 * Every limit that a user can feel: a size beyond which something is refused, cut, dropped or done differently. A refusal
 * is the error `limit.exceeded`, which names the limit.
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
  /** Bytes of payload in one page of a read; a single larger event still gets its own page. */
  pageBytesMax: 4_194_304,
  /** Stored events a filtered page may look at before it comes back with what it found. */
  pageScanMax: 20_000,
  /** Part digests in one question. */
  partsAskedMax: 1_000,
  /** Parts in one answer; together they have `pageBytesMax` bytes at most, or are one larger part. */
  partsPageMax: 10_000,
  /** Bytes from which a part is stored by its digest; smaller ones stay inline. */
  partBytesMin: 512,
  /** Bytes from which the kept text of a foreign unit is stored by its digest: few sources share the text of a unit. */
  keptTextPartBytesMin: 4_096,
  /** Characters of whole bodies that one decoder keeps, to put later ones together. */
  bodiesKeptMax: 33_554_432,
  /** Characters of whole bodies after which a batch of decoded events ends. */
  batchBodiesMax: 16_777_216,
  /** Nodes of a linked message list, or of a chain of body deltas. */
  partChainMax: 100_000,
  /** Characters of long strings whose masks are remembered, so that repeated text is searched once. */
  maskedTextsMax: 8_388_608,
  /** Masked values that a recorder remembers, to mask them wherever they occur later; of more, the oldest go. */
  maskedValuesMax: 1_000,
  /** Characters of a masked value that a recorder remembers; a longer one is masked only where a rule finds it. */
  maskedValueUnitsMax: 8_192,
  /** Milliseconds that the patterns of your own masking rules may take for one event; then the text is masked whole. */
  ownPatternMsMax: 1_000,
  /** Strings of one event that are masked whole for that reason; of an event with more, nothing is recorded. */
  ownPatternTriesMax: 3,
  /** Bytes of a filter's regular expression or text. */
  filterTextMax: 1_000,
  /** Instructions of a filter's regular expression, with counted repetitions written out. */
  filterPatternMax: 2_000,
  /** Pairs of events that an exact alignment compares in one stretch of a diff; longer stretches are cut into windows. */
  diffCellsMax: 16_384,
  /** Changed pairs of a diff that come with their changed fields; the rest comes without. */
  diffDetailsMax: 1_000,
  /** Items of two arrays together that a diff of values aligns by content; longer ones are compared by index. */
  diffItemsMax: 20_000,
  /** Conversations kept at a time, one for each agent and run; the least recently used one goes first. */
  conversationLanesMax: 64,
  /** Calls inside the open tools of a conversation that are remembered; the oldest one goes first. */
  conversationInsideMax: 1_000,
  /** Questions to people that are kept while they wait for an answer; the oldest one goes first. */
  questionsMax: 1_000,
  /** Runs that are remembered because a resume may continue them, or because they continued a run. */
  runsRememberedMax: 1_000,
  /** Structural events that one branch may have. */
  markersMax: 100_000,
  /** Branches between a branch and the beginning of its session. */
  lineageDepthMax: 10_000,
  /** Appends that wait in one store to share the next transaction. */
  queuedAppendsMax: 10_000,
  /** Events since the last snapshot before a new one is worth keeping. */
  snapshotEventsMin: 256,
  /** Bytes of events since the last snapshot, as a multiple of the snapshot's own size. */
  snapshotBytesFactor: 4,
  /** Bytes of a snapshot that is worth keeping. */
  snapshotBytesMax: 4_194_304,
  /** Events that a listing may have to fold: a branch's summary is kept every so many events. */
  summaryEventsMax: 1_000,
  /** Branches whose summaries a process updates in memory while it appends; the oldest one goes first. */
  summariesRunningMax: 1_000,
  /** Events that a first look at a conversation may have to fold, if this release recorded it. */
  conversationEventsMax: 10_000,
  /** How long a snapshot waits for a different process before it is left out. */
  snapshotWaitMsMax: 100,
  /** Characters of a foreign file that is not made of lines: it is read as a whole. */
  importTextMax: 268_435_456,
  /** Bytes of one unit of a foreign source: a line, an element, a file. */
  importUnitBytesMax: 16_777_216,
  /** Messages in OpenTelemetry traces as protobuf: spans, attributes and values. */
  otlpMessagesMax: 2_000_000,
  /** Warnings of one import that are listed; later ones are only counted. */
  importWarningsMax: 100,
  /** Files of one folder that is imported. */
  importFilesMax: 100_000,
  /** Sources that one source continues, each the one before it. */
  importBasesMax: 100,
  /** Bytes of one file of a bundle, and of all of them together. */
  bundleBytesMax: 8_589_934_591,
  /** Bytes of the manifest of a bundle: it is held as a whole. */
  bundleManifestBytesMax: 16_777_216,
  /** Bytes of one line of a bundle: an event or a part. */
  bundleLineBytesMax: 134_217_728,
  /** Bytes of a topic. */
  topicBytesMax: 900,
  /** Topics in the scope of one agent. */
  scopeTopicsMax: 10_000,
  /** How long a caller's checker or rule may take for two claims; the default of `timeoutMs`. */
  judgementMsMax: 30_000,
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
  /** Open transactions in one store; expired ones do not count. */
  openTransactionsMax: 10_000,
  /** Times that a transaction function runs again after a conflict. */
  transactionRetriesMax: 100,
  /** Times that a commit is planned again because others wrote its keys. */
  commitTriesMax: 1_000,
  /** Sessions in one page of a listing. */
  sessionsPageMax: 1_000,
  /** How long a stopped agent, or a call that a run left under way, may take to end by itself, before it is abandoned. */
  resumeGraceMsMax: 1_000,
  /** Milliseconds that the simulation of a call may take; then the run stops. */
  simulationMsMax: 30_000,
  /** Later calls of the original that a look at a resume decides about. */
  foreseenCallsMax: 200,
  /** Branches of one experiment: variants times repeats. */
  experimentBranchesMax: 1_000,
  /** How long the command that checks a branch of an experiment may take, before it is killed and has failed. */
  checkMsMax: 600_000,
  /** Branches of one experiment in all its sessions together. */
  experimentRowsMax: 10_000,
  /** Named scores of one branch of an experiment. */
  scoresMax: 100,
  /** Characters of a result that the receipt of an experiment keeps; the branch has all of it. */
  receiptTextMax: 4_096,
  /** Runs of one experiment at the same time. */
  experimentParallelMax: 64,
  /** How long an append waits for a different process before it fails with `store.busy`; the default of `busyWaitMs`. */
  busyWaitMsMax: 10_000,
  /** Events that a recorder has not stored yet; calls wait for room, other events are not recorded. */
  recordQueueEventsMax: 10_000,
  /** Bytes of all events that a recorder has not stored yet, about. */
  recordQueueBytesMax: 134_217_728,
  /** Times a recorder sends the same events to a store that is busy or failing. */
  recordAttemptsMax: 3,
  /** Errors that a recorder reports and keeps; later ones are only counted. */
  recordErrorsMax: 10,
  /** The longest wait that `busyWaitMs` can ask for. */
  busyWaitGivenMsMax: 600_000,
  /** Connections of one PostgreSQL store; the default of `connections`. */
  connectionsMax: 8,
  /** How long connecting to a PostgreSQL server may take. */
  connectWaitMsMax: 10_000,
  /** How long a PostgreSQL server may work on one statement; the default of `statementTimeoutMs`. */
  statementMsMax: 30_000,
  /** Bytes of one message to a server: an append of the largest size, and what it is wrapped in. */
  serverBodyBytesMax: 100_663_296,
  /** Bytes of the arguments of one verb over the wire; "AppendEvents" and "CommitState" take more. */
  verbArgumentsBytesMax: 1_048_576,
  /** Bytes of the answer of one verb by "Call"; "Stream" and HTTP send a larger one in pieces. */
  verbAnswerBytesMax: 4_000_000,
  /** How long the first message of a call to a server may take to come. */
  serverBodyMsMax: 120_000,
  /** Calls of one token to a server in a second; further ones are refused, and learn when to try again. */
  serverCallsPerSecondMax: 10_000,
  /** How long a client may take nothing of an answer that waits for it; then the answer ends. */
  serverStalledMsMax: 60_000,
  /** Spans of OpenTelemetry in one export to a server. */
  serverSpansMax: 10_000,
  /** How long a server waits for the rest of a trace before it stores the spans that came. */
  serverGatherMsMax: 5_000,
  /** Bytes of all requests that a server has in memory at once; further ones get `store.busy`. */
  serverBytesInFlightMax: 268_435_456,
  /** Bytes of the headers of one request to a server. */
  serverHeaderBytesMax: 16_384,
  /** Connections of a server. */
  serverConnectionsMax: 4_096,
  /** Calls under way on one connection of a server. */
  serverStreamsMax: 256,
  /** How long a connection to a server may take to say what it wants. */
  serverGreetingMsMax: 10_000,
  /** How long a connection to a server may stay idle. */
  serverIdleMsMax: 300_000,
  /** How long a server that stops waits for the calls under way; the default of `graceMs`. */
  serverGraceMsMax: 10_000,
  /** Requests and answers that a scripted model server remembers; the oldest go first. */
  scriptedRequestsMax: 1_000,
  /** Characters of the title of a run or session; a longer one is cut. */
  titleCharactersMax: 80,
  /** Agents that a summary names; later ones are left out. */
  summaryAgentsMax: 100,
  /** Characters of an error's message that are recorded; the rest is cut. */
  errorTextMax: 10_000,
  /** Events in one answer of the studio. */
  shownEventsMax: 200,
  /** Characters of one answer of the studio, about. */
  shownBytesMax: 4_194_304,
  /** Characters of one text in an answer of the studio; a longer one is cut, and the rest is read by itself. */
  shownTextMax: 262_144,
  /** Characters of one stretch of text that was cut. */
  shownStretchMax: 1_048_576,
  /** Characters of the line that describes an event in a list of the studio. */
  shownGistMax: 200,
  /** Rows in one answer of the studio: sessions, branches, pairs of a comparison, changes of a value. */
  shownRowsMax: 200,
  /** Hits in one page of a search. */
  searchHitsMax: 100,
  /** Events that one page of a search reads. */
  searchEventsMax: 2_000,
  /** Refs of one comparison as a table. */
  comparedRefsMax: 8,
  /** Events that a look at causes follows up and down. */
  causesShownMax: 200,
  /** Runs that a server keeps under way at once. */
  runsOpenMax: 8,
  /** Runs that have ended and that a server still lists; the oldest go first. */
  runsEndedMax: 100,
  /** Subscriptions of one stream of the studio. */
  subscriptionsMax: 32,
  /** Characters of an exported page. */
  exportBytesMax: 67_108_864,
  /** Characters of the events and parts of an exported page before they are packed: all are in memory at once. */
  exportHeldMax: 268_435_456,
  /** Tokens of one text in the context of a coding session; a longer one is cut. */
  contextItemTokensMax: 400,
  /** Characters of one text of a coding session that are shown; the rest is in its event. */
  recordCharactersMax: 2_000,
  /** Seqs that a record of a coding session names as its source: the last ones. */
  recordSourcesMax: 20,
  /** Records of one kind in a coding session; of more, the oldest go, and failing tests stay. */
  recordsMax: 10_000,
  /** Runs that a coding session remembers; of more, the oldest that have ended go. */
  codingRunsMax: 1_000,
  /** Bytes of the content of a quarantined risk. */
  riskBytesMax: 1_048_576,
  /** Risks of a coding session: every context is searched for the texts of all of them. */
  risksMax: 1_000,
  /** Bytes of all risks of a coding session. */
  risksBytesMax: 2_097_152,
  /** Characters of a report of tests. */
  reportTextMax: 268_435_456,
  /** Characters of one entry of a report: a file of a JSON report, a line, a tag. */
  reportEntryMax: 8_388_608,
  /** Tests in one report. */
  reportTestsMax: 200_000,
  /** Characters of one file that is rebuilt from patches. */
  patchedFileMax: 16_777_216,
  /** Characters of a text that an erasure looks for outside the event it erases; shorter ones stay. */
  erasableTextMin: 4,
} as const;

/** The name of one limit. */
export type LimitName = keyof typeof limits;

/** Throws `limit.exceeded` if a value is over a named limit. */
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

/** Throws `limit.exceeded` if strings together have more bytes in UTF-8 than a named limit allows. */
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

/** Returns whether so many UTF-16 units are within a limit for sure: each is three bytes at most, so counting is rare. */
export function isSurelyWithin(name: LimitName, units: number): boolean {
  return units * 3 <= limits[name];
}
