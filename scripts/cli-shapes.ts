/** The `--json` answer of each command: the keys of its interface, and notes for the reference. */

import type { DoctorAnswer } from '../src/cli/answering/diagnosis.ts';
import type { CompletionAnswer } from '../src/cli/commands/completion.ts';
import type { ConfigAnswer } from '../src/cli/commands/config.ts';
import type { DemoAnswer } from '../src/cli/commands/demo.ts';
import type { ExecAnswer } from '../src/cli/commands/exec.ts';
import type { ExportAnswer } from '../src/cli/commands/export.ts';
import type { ImportRow } from '../src/cli/commands/import.ts';
import type { KeyAnswer } from '../src/cli/commands/key.ts';
import type { RepairAnswer } from '../src/cli/commands/repair.ts';
import type { ServeAnswer } from '../src/cli/commands/serve.ts';
import type { StudioAnswer } from '../src/cli/commands/studio.ts';
import type { TokenMade } from '../src/cli/commands/token.ts';
import type { VerifyAnswer } from '../src/cli/commands/verify.ts';
import type { CopyRow } from '../src/cli/render/copy-table.ts';
import type { Event } from '../src/core/event/event.ts';
import type { Belief } from '../src/core/fleet/belief.ts';
import type { FleetTask } from '../src/core/fleet/fleet-task.ts';
import type { FleetAgent } from '../src/engine/believing/fleet-at.ts';
import type { InclusionProof } from '../src/engine/proving/event-proof.ts';

import type {
  BranchAnswer,
  DeleteAnswer,
  DeleteSessionAnswer,
  EditAnswer,
  EraseAnswer,
  MarkAnswer,
  SetAnswer,
} from '../src/reading/answers/change-answers.ts';
import type { CodingAnswer } from '../src/reading/answers/coding-answer.ts';
import type { CounterfactualAnswer } from '../src/reading/answers/counterfactual-answer.ts';
import type { DiffAnswer } from '../src/reading/answers/diff-answer.ts';
import type { FingerprintAnswer } from '../src/reading/answers/first-difference.ts';
import type { ForwardAnswer } from '../src/reading/answers/fleet-answers.ts';
import type { ForkAnswer } from '../src/reading/answers/fork-report.ts';
import type { ListRow } from '../src/reading/answers/list-branches.ts';
import type { ExperimentRowAnswer, ResumeAnswer, RetryAnswer } from '../src/reading/answers/run-answers.ts';
import type { ShowAnswer } from '../src/reading/answers/show-answer.ts';
import type { SpaceRow } from '../src/reading/answers/space-used.ts';
import type { StateRow, VersionRow } from '../src/reading/answers/state-entries.ts';
import type { TreeRow } from '../src/reading/answers/tree-rows.ts';
import type { FoldAnswer, ProjectionRow } from '../src/reading/shipped-projections.ts';

/** The keys of an answer, and what else there is to know about it. */
export interface CliShape {
  readonly keys: readonly string[];
  /** The keys that are printed only where they apply. */
  readonly optional: readonly string[];
  /** The rest of the paragraph in the reference. */
  readonly about: string;
}

/** Every key of an answer: a key that the interface gains or loses does not compile until it is listed here. */
type Keys<Answer> = {
  readonly [Key in keyof Answer]-?: Record<never, never> extends Pick<Answer, Key> ? 'optional' : 'always';
};

function shape<Answer>(keys: Keys<Answer>, about: string): CliShape {
  const entries = Object.entries<'optional' | 'always'>(keys);
  return {
    keys: entries.map(([key]) => key),
    optional: entries.flatMap(([key, presence]) => (presence === 'optional' ? [key] : [])),
    about,
  };
}

const stateRow: Keys<StateRow> = {
  key: 'always',
  agent: 'always',
  value: 'always',
  version: 'always',
  seq: 'always',
  time: 'always',
  exists: 'always',
  erased: 'optional',
};

const marked: Keys<MarkAnswer> = { ref: 'always', marker: 'always', undone: 'always', restored: 'always' };

const resumed: Keys<ResumeAnswer> = {
  session: 'always',
  branch: 'always',
  ref: 'always',
  outcome: 'always',
  text: 'always',
  modelCalls: 'always',
  usage: 'always',
  cost: 'always',
  unpricedCalls: 'always',
  latencyMs: 'always',
  reused: 'always',
  simulated: 'always',
  asked: 'always',
  repairs: 'always',
  waiting: 'always',
  runs: 'always',
  lineage: 'always',
  comparison: 'always',
  recorded: 'always',
};

const eventRow: Keys<Event> = {
  session: 'always',
  branch: 'always',
  seq: 'always',
  id: 'always',
  time: 'always',
  type: 'always',
  version: 'always',
  agent: 'optional',
  run: 'optional',
  turn: 'always',
  cause: 'optional',
  causeSeq: 'optional',
  data: 'always',
  digest: 'always',
  erased: 'optional',
  replaces: 'optional',
  replacedIds: 'optional',
};

/** The shapes by command. */
export const shapes: Readonly<Record<string, CliShape>> = {
  demo: shape<DemoAnswer>(
    { store: 'always', session: 'always', branch: 'always', commands: 'always' },
    '`commands` are `{ command, code }`, exactly as typed.',
  ),
  list: shape<ListRow>(
    {
      namespace: 'optional',
      session: 'always',
      branch: 'always',
      parent: 'always',
      title: 'always',
      events: 'always',
      head: 'always',
      bytes: 'always',
      startedAt: 'always',
      endedAt: 'always',
      durationMs: 'always',
      outcome: 'always',
      waiting: 'always',
      agents: 'always',
      git: 'always',
      usage: 'always',
      fingerprint: 'always',
      branches: 'always',
      archived: 'always',
    },
    'One line per session, of its first branch or of the first that matches; with `--branches` one line per branch. `branches` counts the branches of the session. `namespace` is printed with `--all-namespaces`. `parent` is null for the branch a session began with; unknown values are null. `bytes` is the payload that the branch stores itself: its events, and the messages and bodies that came into the session with them. A payload that many events share counts once, where it came first; an erased one does not count. `doctor` prints the size of the whole store, with its indexes.',
  ),
  tree: shape<TreeRow>(
    {
      session: 'always',
      branch: 'always',
      parent: 'always',
      reason: 'always',
      edits: 'always',
      head: 'always',
      events: 'always',
      outcome: 'always',
      startedAt: 'always',
      usage: 'always',
    },
    'One line per branch, parents before their children. `edits` lists the edits the branch was made with, up to its first run or call. `--json=object`: `{ session, branches }`.',
  ),
  replay: shape<Event>(
    eventRow,
    'One line per event, as it was recorded, with its parts inlined. `--json=object`: `{ ref, metadata, events, totalMatched, fingerprint }`, where `totalMatched` counts events before `--limit`. With `--ops`, one line per transaction: `{ txn, seq, time, operations: [{ agent, key, op, value?, version }] }`.',
  ),
  show: shape<ShowAnswer>(
    {
      ref: 'always',
      event: 'always',
      messages: 'always',
      state: 'always',
      beliefs: 'always',
      agents: 'always',
      calls: 'always',
      waiting: 'always',
      simulated: 'always',
      usage: 'always',
      changes: 'always',
      agent: 'always',
      run: 'always',
      model: 'always',
      system: 'always',
      tools: 'always',
      settings: 'always',
      calledAt: 'always',
      erased: 'always',
      others: 'always',
      metadata: 'always',
      failures: 'always',
      constraints: 'always',
    },
    '`failures` are the tests of a coding session that are not resolved, and `constraints` its constraints. `event` is null at the beginning. `messages` are `{ seq, message }`; `calls` are the open ones; `changes` is `{ since, added, removed, settings, state }`, compared with the end of the turn before. `agent`, `run`, `model`, `system`, `tools`, `settings`, `calledAt` and `erased` (how many messages were erased) belong to the conversation; `others` are the conversations of other agents; `metadata` is that of the branch. With `--resume`: `{ ref, agent, run, messages, prompt, pending, model, system, tools, settings, repairs, calls, otherwise }`, as `session.resumable` returns it. With `--as`: `{ ref, agent, isThere, scope, beliefs, state, messages }`, as `session.at(point).as(agent).known()` returns it.',
  ),
  fold: shape<FoldAnswer>({ ref: 'always', projection: 'always', version: 'always', value: 'always' }, ''),
  projections: shape<ProjectionRow>(
    { name: 'always', version: 'always', history: 'always', about: 'always' },
    'One line per projection.',
  ),
  get: shape<StateRow>(
    stateRow,
    'Without a value, `exists` is false and `value` null; `version`, `seq` and `time` are those of the delete, or 0, 0 and null. `erased` is true if the payload was erased. Exits with 0 if there is a value, 1 if not.',
  ),
  set: shape<SetAnswer>(
    { ...stateRow, ref: 'always', txn: 'always', created: 'always' },
    '`txn` is the id of the event; `created` says whether the session was created.',
  ),
  delete: shape<DeleteAnswer>(
    { ...stateRow, ref: 'always', txn: 'always', deleted: 'always' },
    'Exits with 0 if the key was deleted, 1 if it did not exist: then nothing was written and `txn` is null.',
  ),
  keys: shape<StateRow>(
    stateRow,
    'One line per key, sorted by UTF-8 bytes. `--json=object`: `{ ref, agent, entries }`.',
  ),
  scan: shape<StateRow>(stateRow, 'The same as for `keys`.'),
  history: shape<VersionRow>(
    {
      ...stateRow,
      op: 'optional',
      txn: 'always',
      branch: 'always',
      turn: 'always',
      by: 'optional',
      run: 'optional',
      cause: 'optional',
    },
    'One line per version, the last first. `by` is who committed it; `op` is missing if the payload was erased.',
  ),
  beliefs: shape<Belief>(
    {
      id: 'always',
      replacedIds: 'optional',
      branch: 'always',
      seq: 'always',
      turn: 'always',
      time: 'always',
      agent: 'optional',
      run: 'optional',
      cause: 'optional',
      claim: 'always',
      topic: 'optional',
      kind: 'always',
      value: 'optional',
      trust: 'always',
      mutates: 'optional',
      unsettled: 'optional',
      erased: 'optional',
    },
    'One line per claim that stands. `unsettled` is true for one that was appended by hand or told to a recorder. `--json=object`: `{ ref, story, as, beliefs }`.',
  ),
  agents: shape<FleetAgent>(
    {
      agent: 'always',
      role: 'optional',
      model: 'optional',
      scope: 'always',
      trust: 'optional',
      trustOn: 'optional',
      since: 'always',
      seq: 'always',
      tasks: 'always',
    },
    'One line per agent. `scope` is a list of topics, or `all`; `since` is the turn from which on it is there. `--json=object`: `{ ref, story, agents }`.',
  ),
  tasks: shape<FleetTask>(
    {
      task: 'always',
      title: 'optional',
      role: 'optional',
      agent: 'optional',
      status: 'always',
      outcome: 'optional',
      failed: 'always',
      turn: 'always',
      seq: 'always',
    },
    'One line per task. `status` is `open`, `claimed` or `ended`; `failed` are the checks of its result that failed. `--json=object`: `{ ref, story, tasks }`.',
  ),
  audit: shape<Event>(eventRow, 'One line per event, of the raw history.'),
  forward: shape<ForwardAnswer>(
    { ref: 'always', from: 'always', until: 'always', live: 'always', reused: 'always', stoppedBy: 'always' },
    '`live` are the turns that ran, `{ turn, agent?, because }`; `reused` those that were repeated, `{ turn, agent, of }`; `stoppedBy` is `{ reason, turn, agent, message }`, or null. Exits with 0 if every turn ended well, 1 if not.',
  ),
  coding: shape<CodingAnswer>(
    { ref: 'always', what: 'always', value: 'always' },
    '`what` is the word after `coding`, and `value` is that of the library: `status` the projection `coding`, `context` that of `coding.context`, `replay` that of `replayRun` or `replayCounterfactual`, `receipt` and `request` parts of it, `files` that of `coding.files`, `diff` that of `diffRuns` (`ref` is the second), `export` that of `exportRun`, `record` the event.',
  ),
  exec: shape<ExecAnswer>(
    {
      ref: 'always',
      command: 'always',
      exitCode: 'always',
      testRun: 'always',
      failed: 'always',
      passed: 'always',
      reportError: 'always',
    },
    'Written to stderr, because stdout is that of the command. `exitCode` is that of a shell: 128 and more after a signal. `testRun` is the seq of the recorded test run, or null.',
  ),
  diff: shape<DiffAnswer>(
    {
      identical: 'always',
      forkPoint: 'always',
      divergedAt: 'always',
      sustainedAt: 'always',
      matched: 'always',
      changed: 'always',
      onlyLeft: 'always',
      onlyRight: 'always',
      hunks: 'always',
      states: 'always',
      beliefs: 'optional',
    },
    'With `--beliefs`, `beliefs` is `{ identical, fromTurn, topics, agents, answers }`; each difference has an `attribution` `{ how: certain | possible | unknown, to }`, where `to` are the ids of the mutations, spawns and edits. Exits with 0 if the histories are the same, 1 if not.',
  ),
  counterfactual: shape<CounterfactualAnswer>(
    {
      ref: 'always',
      excluded: 'always',
      cascaded: 'always',
      dependents: 'always',
      projection: 'always',
      value: 'always',
      diff: 'always',
    },
    '`excluded` are all seqs that were left out, `cascaded` those left out only because of `--cascade`, `dependents` those that depend on an excluded event and stayed.',
  ),
  fingerprint: shape<FingerprintAnswer>(
    {
      ref: 'always',
      fingerprint: 'always',
      digest: 'always',
      expected: 'optional',
      same: 'optional',
      difference: 'optional',
    },
    '`expected` and `same` are printed with `--expect`, `difference` if the fingerprint is not the expected one: `{ reference, at, seq, type, reason }`. `reference` is the history in this store that has the expected fingerprint. `seq` and `type` are those of the first unexpected event, and `at` is its ref: on the reference if only the reference has the event, else on the history. All of them are null if unknown. Exits with 0 if the fingerprint is the expected one, 1 if not.',
  ),
  verify: shape<VerifyAnswer>(
    { ok: 'always', events: 'always', firstBad: 'always', reason: 'always', notCovered: 'always', deep: 'always' },
    '`firstBad` and `reason` are null if `ok`. `deep` is null without `--deep`, and if the branch itself is damaged; else `{ branches, count, faults }`: `count` rows are wrong, and `faults` names the first 100 as `{ kind: event | key | clock | marker | snapshot, branch, seq, message }`. Exits with 0 if the history verifies, 1 if not. For the folder of an exported run: `{ ok, run, files, manifestHash, firstBad, reason }`, where `firstBad` is the first file that differs. Of a bundle: `{ ok, reason, where, session, events, branches, root, signature, redacted, proves, doesNotProve }`, with `where` as `{ file?, line?, branch?, seq? }` of the first thing that is wrong. Of a proof: `{ ok, reason, proves, doesNotProve }`.',
  ),
  prove: shape<InclusionProof>(
    {
      proof: 'always',
      version: 'always',
      ref: 'always',
      event: 'always',
      previous: 'always',
      digest: 'always',
      payload: 'always',
      tree: 'always',
      path: 'always',
      session: 'always',
    },
    '`proof` is `reprise-inclusion`. `tree` is `{ size, root }`. `payload` is null if it was erased or left out. With `--since`: `{ proof, version, ref, first, second, path }`, with `reprise-consistency` as `proof`, and `first` and `second` as `{ size, root }`.',
  ),
  key: shape<KeyAnswer>(
    { key: 'always', file: 'always', pinned: 'always' },
    '`key` is the public key and `file` the file of the private one; both are null for `pin`, `forget` and `list`. `pinned` has the public keys of others, by name.',
  ),
  fork: shape<ForkAnswer>(
    { session: 'always', branch: 'always', ref: 'always', head: 'always', pending: 'always', lineage: 'always' },
    '`pending` are the calls that a resume makes first, `{ seq, call, name, input }`. `lineage` is `{ parent: { branch, seq }, reason, agent, edits, dropped, dependents }`. Each edit is `{ kind: replaced | inserted | dropped | rewound | appended, … }`; `dropped` are the seqs that the edits took out of the view, `dependents` those that depend on them and stayed.',
  ),
  edit: shape<EditAnswer>(
    { ...marked, dependents: 'always' },
    '`marker` is the structural event that was appended; `undone` are the seqs that left the view, `restored` those that came into it.',
  ),
  rewind: shape<MarkAnswer>(marked, 'The same as for `edit`.'),
  revert: shape<EditAnswer>({ ...marked, dependents: 'always' }, 'The same as for `edit`.'),
  redo: shape<MarkAnswer>(marked, 'The same as for `edit`.'),
  erase: shape<EraseAnswer>(
    {
      ref: 'always',
      dryRun: 'always',
      events: 'always',
      parts: 'always',
      markers: 'always',
      remains: 'always',
      marker: 'always',
      undone: 'always',
      restored: 'always',
    },
    '`events` and `parts` are those that were erased, or would be with `--dry-run`.',
  ),
  'delete-session': shape<DeleteSessionAnswer>(
    { session: 'always', deleted: 'always', events: 'always', branches: 'always' },
    '',
  ),
  branch: shape<BranchAnswer>(
    { ref: 'always', session: 'always', branch: 'always', action: 'always', events: 'always' },
    'One line per branch. `events` is null unless it was deleted. `--json=object`: `{ branches }`.',
  ),
  du: shape<SpaceRow>(
    {
      namespace: 'always',
      session: 'always',
      branches: 'always',
      events: 'always',
      eventBytes: 'always',
      partBytes: 'always',
      snapshots: 'always',
      snapshotBytes: 'always',
      bytes: 'always',
    },
    'One line per session, the largest first. `bytes` is the sum of events, parts and snapshots; a part that several sessions hold counts for each. `--json=object`: `{ storeBytes, sessions }`, where `storeBytes` is the whole store with its indexes.',
  ),
  resume: shape<ResumeAnswer>(
    resumed,
    '`text` is the result as text, `reused` counts calls answered from the record and `simulated` those that simulations answered, `repairs` are `{ rule, seq, what }`, and `comparison` has an entry for each user message with `--user-turns`. If the agent throws, `agent.failed` is on stderr, with exit code 3. A budget, a timeout or a refused call exits with 1, even if the agent returned something; Ctrl-C with 130. The branch keeps everything done until then. With `--dry-run`: what `reprise show --resume` prints.',
  ),
  retry: shape<RetryAnswer>(
    { ...resumed, original: 'always', sameText: 'always', diff: 'always' },
    'The same as for `resume`. `original` is `{ ref, run, task, text }`; `diff` has the counts of `reprise diff` between the two.',
  ),
  experiment: shape<ExperimentRowAnswer>(
    {
      session: 'always',
      variant: 'always',
      repeat: 'always',
      branch: 'always',
      outcome: 'always',
      text: 'always',
      modelCalls: 'always',
      usage: 'always',
      cost: 'always',
      latencyMs: 'always',
      reused: 'always',
      simulated: 'always',
      divergedAt: 'always',
      passed: 'always',
      scores: 'always',
      reason: 'always',
      judge: 'always',
      error: 'always',
      errorCode: 'always',
    },
    'One line per branch as soon as it ends, then one of `{ id, total, sessions, variants }`, which has for each variant its number of passes and its scores, their 95% intervals, and how it compares with the first variant. `--json=object`: `{ id, total, sessions, variants, branches }`. `experiment show ID` prints the same. Exits with 0 if at least one branch gave a result, whether or not it passed the check; with `--fail-under`, 1 if a variant passes less often. Otherwise with 3 if an agent failed, or 1 if budget, time or a refused call stopped them all; the rows are printed in any case. Ctrl-C exits with 130.',
  ),
  import: shape<ImportRow>(
    {
      file: 'always',
      session: 'always',
      ref: 'always',
      format: 'always',
      outcome: 'always',
      branches: 'always',
      events: 'always',
      units: 'always',
      kept: 'always',
      warnings: 'always',
      warningCount: 'always',
      secrets: 'always',
    },
    'One line per source, `{ file, error }` for one that could not be imported. `--json=object`: `{ imported, failed }`. `--discover`: `{ found }`, with `{ format, folder, files, bytes }` of each place.',
  ),
  export: shape<ExportAnswer>(
    {
      ref: 'always',
      format: 'always',
      to: 'always',
      bytes: 'always',
      text: 'always',
      differs: 'always',
      bundle: 'always',
      leftOut: 'optional',
    },
    '`text` is null with `--to`. `differs` lists the units of the source that were edited, erased, removed or masked. `bundle` is null with `--format`; of a bundle it has `{ session, events, branches, root, redacted, key }`. `leftOut` is there with `--format html`: `{ branch, seq, type, rule }` of at most 200 payloads.',
  ),
  copy: shape<CopyRow>(
    {
      namespace: 'always',
      session: 'always',
      outcome: 'always',
      dryRun: 'always',
      written: 'always',
      branches: 'always',
      error: 'always',
    },
    'One line per session as soon as it is done. `outcome` is `copied`, `updated`, `replaced` (something was erased at the source since), `unchanged` or `refused`; `written` counts events; `branches` are `{ branch, head, digest }`; `error` is `{ code, message, hint }` for a refused session, else null. `--json=object`: `{ sessions }`. Exits with 1 if a session was refused; the others are copied anyway.',
  ),
  studio: shape<StudioAnswer>(
    { url: 'always', store: 'always' },
    'Printed when the studio is ready; `url` has the token in its fragment. Exits with 0 after SIGTERM or Ctrl-C.',
  ),
  serve: shape<ServeAnswer>(
    { url: 'always', store: 'always' },
    'Printed when the server is ready; `url` is what clients open. The log goes to stderr, one object per line. Exits with 0 after SIGTERM or Ctrl-C.',
  ),
  token: shape<TokenMade>(
    {
      token: 'always',
      id: 'always',
      rights: 'always',
      namespaces: 'always',
      agent: 'always',
      createdAt: 'always',
      expiresAt: 'always',
      revokedAt: 'always',
    },
    'This is the answer of `token create`, and `token` is in no other answer. `namespaces` is null for all of them. `token list` prints one line per token. `token revoke` prints `{ id, revoked }` and exits with 1 if there is no such token.',
  ),
  config: shape<ConfigAnswer>(
    {
      file: 'always',
      settings: 'always',
      store: 'always',
      namespace: 'always',
      agents: 'always',
      prices: 'always',
      masking: 'always',
    },
    '`file` and `settings` are null if there is none; `store` is `{ url, by: given | environment | settings | config | default }`; `agents` are `{ name, kind }`, and none of them is started; `prices` lists the models that the file has prices for; `masking` is `{ rules, except, key }`, or null if nothing is masked; `key` is `{ kind: environment | file | process, path? }`, where the key of masks comes from. `--save`: `{ file, settings }`. `--trust`: `{ folder, listedIn }`.',
  ),
  doctor: shape<DoctorAnswer>(
    {
      ok: 'always',
      reprise: 'always',
      node: 'always',
      location: 'always',
      namespace: 'always',
      store: 'always',
      freeBytes: 'always',
      sessions: 'always',
      branches: 'always',
      events: 'always',
      verified: 'always',
      findings: 'always',
      advice: 'always',
    },
    '`store` is `{ kind, schema, durability, bytes, facts, tables, namespaces }`: `facts` are `{ name, text }`, `tables` `{ name, bytes, indexBytes }`, `namespaces` `{ name, sessions, bytes }`, the largest first. `findings` are `{ code, message, todo }`: what is wrong. `advice` are `{ message, todo }`: possible improvements. Values that could not be checked are null. A store that is missing, locked, damaged or newer is a finding, not an error. Exits with 0 if all is well, 1 if there are findings.',
  ),
  repair: shape<RepairAnswer>(
    { sessions: 'always', count: 'always', repaired: 'always' },
    '`sessions` were compared with their logs, and `count` rows were wrong and are mended. `repaired` has `{ namespace, session, count, faults }` for each session that had any; `faults` are as for `verify --deep`.',
  ),
  completion: shape<CompletionAnswer>({ shell: 'always', script: 'always' }, ''),
};
