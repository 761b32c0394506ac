/** What each command prints with `--json`. The tests run every command and compare the keys. */
export interface CliShape {
  readonly keys: readonly string[];
  /** What has to be said about it, with what joins it to the line. */
  readonly about: string;
}

const resumed =
  'session branch ref outcome text modelCalls usage cost unpricedCalls latencyMs reused asked repairs runs lineage comparison recorded'.split(
    ' ',
  );
const held = ['key', 'agent', 'value', 'version', 'seq', 'time', 'exists'];
const marked = ['ref', 'marker', 'undone', 'restored'];

/** By command. */
export const shapes: Readonly<Record<string, CliShape>> = {
  demo: {
    keys: ['store', 'session', 'branch', 'commands'],
    about: '. `commands` are `{ command, code }`, as they can be typed.',
  },
  list: {
    keys: 'session branch parent title events head bytes startedAt endedAt durationMs outcome agents git usage fingerprint'.split(
      ' ',
    ),
    about:
      ', a line for each branch. `parent` is null for the branch a session began with; what is not known is null. `bytes` is the payload that the branch stores itself: its events, and the messages and bodies that came to the session with them for the first time; what is stored once for many events counts once, where it came first, and what was erased no longer counts. `doctor` tells the size of the whole store, indexes included.',
  },
  tree: {
    keys: 'session branch parent reason edits head events outcome startedAt usage'.split(' '),
    about:
      ', a line for each branch, a parent before its children. `edits` names what the branch was made with, up to the first run or call on it. `--json=object`: `{ session, branches }`.',
  },
  replay: {
    keys: 'session branch seq id time type version agent run turn cause causeSeq data digest'.split(' '),
    about:
      ', a line for each event as it was recorded, parts inlined; `agent`, `run`, `cause` and `causeSeq` only where it has them. `--json=object`: `{ ref, metadata, fingerprint, totalMatched, events }`, where `totalMatched` counts before `--limit`. With `--ops`, a line for each transaction: `{ txn, seq, time, operations: [{ agent, key, op, value?, version }] }`.',
  },
  show: {
    keys: ['ref', 'event', 'messages', 'state', 'calls', 'usage'],
    about:
      ' and more. `messages` are `{ seq, message }`, `calls` those still open, `changes` is `{ since, added, removed, settings, state }` against the end of the turn before; `model`, `system`, `tools`, `settings`, `agent`, `run` are those of the conversation, `others` the conversations of other agents, `metadata` that of the branch. `event` is null at the beginning.',
  },
  state: { keys: ['ref', 'projection', 'version', 'value'], about: '.' },
  projections: { keys: ['name', 'version', 'history', 'about'], about: ', a line for each.' },
  get: {
    keys: held,
    about:
      '. Where there is no value, `exists` is false and `value` null; `version`, `seq` and `time` are those of the delete, or 0, 0 and null. `erased: true` says that the payload was erased. Exit 0 if there is a value, 1 if not.',
  },
  set: {
    keys: [...held, 'ref', 'txn', 'created'],
    about: '. `txn` is the id of the event, `created` whether the session was made.',
  },
  delete: {
    keys: [...held, 'ref', 'txn', 'deleted'],
    about: '. Exit 0 if it was deleted, 1 if there was no such key; then nothing was written and `txn` is null.',
  },
  keys: {
    keys: held,
    about: ', a line for each key, sorted by UTF-8 bytes. `--json=object`: `{ ref, agent, entries }`.',
  },
  scan: { keys: held, about: ', as for `keys`.' },
  history: {
    keys: [...held, 'op', 'txn', 'branch', 'turn', 'by', 'run', 'cause'],
    about:
      ', a line for each version, the last first. `by` is who committed it; `by`, `run` and `cause` only where it has them, `op` unless the payload was erased.',
  },
  diff: {
    keys: 'identical forkPoint divergedAt sustainedAt matched changed onlyLeft onlyRight hunks states'.split(' '),
    about: '. Exit 0 if they are the same, 1 if not.',
  },
  counterfactual: {
    keys: ['ref', 'excluded', 'cascaded', 'dependents', 'projection', 'value', 'diff'],
    about:
      '. `excluded` is all that was left out, `cascaded` what went only because of `--cascade`, `dependents` what stayed although it depended on it.',
  },
  fingerprint: {
    keys: ['ref', 'fingerprint', 'digest'],
    about:
      ', with `--expect` also `expected` and `same`, and if it is not the same `difference: { reference, at, seq, type, reason }`. `reference` is the history in this store that has the expected fingerprint; `seq` and `type` are those of the first event that is not as expected, and `at` is its ref: one of the history looked at, or one of the reference where only that did something. All are null where they are not known. Exit 0 if it is the same, 1 if not.',
  },
  verify: {
    keys: ['ok', 'events', 'firstBad', 'reason', 'notCovered'],
    about: '. `firstBad` and `reason` are null when `ok`. Exit 0 if it is what was recorded, 1 if not.',
  },
  fork: {
    keys: ['session', 'branch', 'ref', 'head', 'lineage'],
    about:
      '. `lineage` is `{ parent: { branch, seq }, reason, agent, edits, dropped, dependents }`: each edit is `{ kind: replaced | inserted | dropped | rewound | appended, … }`, `dropped` are the seqs the edits took out of the view, `dependents` what stayed although it depended on them.',
  },
  edit: {
    keys: [...marked, 'dependents'],
    about: '. `marker` is the structural event that was appended; `undone` left the view, `restored` came into it.',
  },
  rewind: { keys: marked, about: ', as for `edit`.' },
  revert: { keys: [...marked, 'dependents'], about: ', as for `edit`.' },
  redo: { keys: marked, about: ', as for `edit`.' },
  erase: {
    keys: ['ref', 'dryRun', 'events', 'parts', 'markers', 'marker', 'undone', 'restored'],
    about: '. `events` and `parts` are what is gone, or would be with `--dry-run`.',
  },
  'delete-session': { keys: ['session', 'deleted', 'events', 'branches'], about: '.' },
  resume: {
    keys: resumed,
    about:
      '. `modelCalls` counts model calls, `text` is what the result amounts to, `reused` counts calls that were answered from the record, `repairs` are `{ rule, seq, what }`, and `comparison` has an entry for each user message with `--user-turns`. What the agent threw is `agent.failed` on stderr, exit 3; a budget, a timeout or a refused call is exit 1, also if the agent gave something all the same; Ctrl-C 130. What was done until then is on the branch.',
  },
  retry: {
    keys: [...resumed, 'original', 'sameText', 'diff'],
    about:
      ', as for `resume`. `original` is `{ ref, run, task, text }`; `diff` has the counts of `reprise diff` between the two.',
  },
  experiment: {
    keys: 'variant repeat branch outcome text modelCalls usage cost latencyMs divergedAt passed error errorCode'.split(
      ' ',
    ),
    about:
      ', a line for each branch as soon as it has come to an end, then one of `{ session, point, original, variants }`: a summary of each variant with its pass count, its interval at 95 % and how it compares with the first. `--json=object`: `{ session, point, original, branches, variants }`. Exit 0 if a branch came to a result, whatever the check says of it; if none did, the rows are printed all the same and it is 3 if an agent failed, 1 if budget, time or a refused call stopped them; Ctrl-C 130.',
  },
  import: {
    keys: ['file', 'session', 'ref', 'events'],
    about: ', a line for each file. `--json=object`: `{ imported }`. A file is imported whole or not at all.',
  },
  export: {
    keys: ['ref', 'format', 'to', 'bytes', 'text'],
    about: '. `text` is null where `--to` names a file.',
  },
  copy: {
    keys: ['namespace', 'session', 'outcome', 'dryRun', 'written', 'branches', 'error'],
    about:
      ', a line for each session as soon as it is done. `outcome` is `copied`, `updated`, `replaced` (something was erased at the source since), `unchanged` or `refused`; `written` counts events; `branches` are `{ branch, head, digest }`; `error` is `{ code, message, hint }` where it was refused, else null. `--json=object`: `{ sessions }`. Exit 1 if one was refused; the others are copied all the same.',
  },
  config: {
    keys: ['file', 'store', 'namespace', 'agents', 'prices', 'masking'],
    about:
      '. `file` is null where there is none; `store` is `{ url, by: given | environment | config | default }`; `agents` are `{ name, kind }`, none of them made for this; `prices` names the models that the file prices; `masking` is `{ rules, except }`, or null where nothing is masked.',
  },
  doctor: {
    keys: 'ok reprise node location namespace store freeBytes sessions branches events verified findings advice'.split(
      ' ',
    ),
    about:
      '. `store` is `{ kind, schema, durability, bytes, facts, tables, namespaces }`: `facts` are `{ name, text }`, `tables` `{ name, bytes, indexBytes }`, `namespaces` `{ name, sessions, bytes }`, the largest first. `findings` are `{ code, message, todo }`; what could not be looked at is null. `advice` are `{ message, todo }`: what could be better, and no fault. A store that is missing, locked, damaged or newer is a finding, not an error. Exit 0 if all is well, 1 if there are findings.',
  },
  completion: { keys: ['shell', 'script'], about: '.' },
};
