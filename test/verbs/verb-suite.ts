import type { AgentBeliefs, AgentBranch } from '../../src/engine/agents/agent.ts';
import type { Beliefs } from '../../src/engine/believing/beliefs.ts';
import type { Coding } from '../../src/engine/coding/coding.ts';
import type { Fleet, Tasks } from '../../src/engine/fleet/fleet.ts';
import type { Exporting } from '../../src/engine/importing/exporting.ts';
import type { SessionRecorder } from '../../src/engine/recording/recorder.ts';
import type { Reprise } from '../../src/engine/reprise.ts';
import type { Session } from '../../src/engine/session.ts';
import type { State } from '../../src/engine/state/state.ts';
import type { Transaction } from '../../src/engine/state/transaction.ts';
import { append } from './append.ts';
import { beliefVerbs } from './belief-verbs.ts';
import { branchVerbs } from './branching.ts';
import { bundling } from './bundling.ts';
import { edit, fork, revert, rewind } from './changing.ts';
import { codingLooks, codingReplays } from './coding-looking.ts';
import { codingRecords, codingRefusals } from './coding-recording.ts';
import { copying } from './copying.ts';
import { deep } from './deep-proving.ts';
import { editing } from './editing.ts';
import { effects } from './effects.ts';
import { effectsBeside } from './effects-beside.ts';
import { erase } from './erasing.ts';
import { experimentSets } from './experiment-sets.ts';
import { experiment, retry } from './experimenting.ts';
import { fleetVerbs } from './fleet-verbs.ts';
import { forwardReuse } from './forward-reuse.ts';
import { forwardVerbs } from './forward-verbs.ts';
import { branches, looks, storyLooks } from './handles.ts';
import { housekeeping } from './housekeeping.ts';
import { importing } from './importing.ts';
import { counterfactual, fold } from './looking.ts';
import { masking } from './masking.ts';
import { mistyping } from './mistyping.ts';
import { personVerbs } from './person-verbs.ts';
import { diff, fingerprint, sessions, verify } from './proving.ts';
import { userTurns } from './recorded-turns.ts';
import { recorderVerbs } from './recorder-verbs.ts';
import { record } from './recording.ts';
import { redo } from './redoing.ts';
import { find, replay, runBoundaries } from './replay.ts';
import { resumable } from './resumable.ts';
import { resume } from './resuming.ts';
import { sameIdsEdited, sameIdsResumed } from './same-call-ids.ts';
import { branching, reading } from './state-reading.ts';
import { replaying } from './state-replaying.ts';
import { isolation, lifeCycle } from './state-transactions.ts';
import { stopping } from './stopping.ts';
import type { VerbCase } from './verb-case.ts';
import { whatIf } from './what-if.ts';
import { wrongPlaces } from './wrong-places.ts';

/** The methods and accessors of a handle, without the plain fields that name what it is on. */
type VerbsOf<Handle, Field extends keyof Handle = never> = Exclude<keyof Handle & string, Field>;

/**
 * Every verb of every handle: a new one without cases does not compile. Those of a session go by their bare names, and so
 * do those of looks and branches, which a session inherits.
 */
export type Verb =
  | VerbsOf<Session, 'id' | 'sessionId' | 'name'>
  | `reprise.${VerbsOf<Reprise>}`
  | `state.${VerbsOf<State, 'agent'>}`
  | `coding.${VerbsOf<Coding, 'agent'>}`
  | `transaction.${VerbsOf<Transaction, 'agent'>}`
  | `beliefs.${VerbsOf<Beliefs>}`
  | `fleet.${VerbsOf<Fleet>}`
  | `tasks.${VerbsOf<Tasks>}`
  | `agent.${VerbsOf<AgentBranch, 'name' | 'agent'>}`
  | `agentBeliefs.${VerbsOf<AgentBeliefs>}`
  | `exporting.${VerbsOf<Exporting>}`
  | `recorder.${VerbsOf<SessionRecorder, 'session'>}`;

/**
 * The cases that prove each verb on any store, verb by verb. Verbs that are proved together share their cases.
 *
 * @example
 * ```ts
 * for (const { run } of verbSuite.fork) await run(() => openReprise('memory:'));
 * ```
 */
export const verbSuite: Readonly<Record<Verb, readonly VerbCase[]>> = {
  append,
  record,
  replay: [...replay, ...runBoundaries],
  find,
  findLast: find,
  fold,
  folds: fold,
  state: [...lifeCycle, ...isolation, ...reading, ...branching, ...replaying],
  beliefs: beliefVerbs,
  fleet: fleetVerbs,
  as: fleetVerbs,
  audit: fleetVerbs,
  coding: [...codingRecords, ...codingRefusals, ...codingLooks, ...codingReplays],
  counterfactual,
  fork: [...fork, ...mistyping],
  edit: [...edit, ...editing, ...sameIdsEdited],
  resume: [...resume, ...stopping, ...userTurns, ...effects, ...effectsBeside, ...sameIdsResumed, ...whatIf],
  resumable,
  retry,
  experiment: [...experiment, ...experimentSets],
  archiveBranch: housekeeping,
  deleteBranch: housekeeping,
  rewind,
  revert,
  redo,
  spawn: fleetVerbs,
  mutate: fleetVerbs,
  runForward: [...forwardVerbs, ...forwardReuse],
  using: beliefVerbs,
  erase,
  fingerprint,
  verify: [...verify, ...deep],
  repair: deep,
  at: [...looks, ...storyLooks, ...wrongPlaces],
  branch: [...branchVerbs, ...branches],
  branches: looks,
  known: looks,
  tree: sessions,
  toJSON: sessions,
  locate: [...verify, ...looks],
  metadata: sessions,
  setMetadata: sessions,
  masker: masking,
  dropSnapshots: fold,
  diff,
  prove: bundling,
  export: importing,
  handBack: importing,
  exportBundle: bundling,
  delete: sessions,

  'reprise.session': sessions,
  'reprise.createSession': sessions,
  'reprise.sessions': sessions,
  'reprise.sessionsPage': sessions,
  'reprise.namespace': sessions,
  'reprise.currentNamespace': sessions,
  'reprise.replay': replay,
  'reprise.experiment': experimentSets,
  'reprise.findExperiment': experimentSets,
  'reprise.sessionSize': housekeeping,
  'reprise.at': looks,
  'reprise.diff': diff,
  'reprise.resolve': sessions,
  'reprise.copy': copying,
  'reprise.import': importing,
  'reprise.importAll': importing,
  'reprise.health': sessions,
  'reprise.verifyAll': deep,
  'reprise.close': sessions,

  'state.as': reading,
  'state.begin': lifeCycle,
  'state.openTransaction': lifeCycle,
  'state.transaction': isolation,
  'state.get': reading,
  'state.keys': reading,
  'state.scan': reading,
  'state.history': reading,
  'state.replay': replaying,
  'state.diff': branching,

  'coding.as': codingRecords,
  'coding.startRun': codingRecords,
  'coding.endRun': codingRecords,
  'coding.goal': codingRecords,
  'coding.constraint': codingRecords,
  'coding.testRun': codingRecords,
  'coding.patch': codingRecords,
  'coding.decision': codingRecords,
  'coding.procedure': codingRecords,
  'coding.evidence': codingRecords,
  'coding.risk': codingRecords,
  'coding.fact': codingRecords,
  'coding.command': codingRecords,
  'coding.prepareRequest': codingReplays,
  'coding.configure': codingLooks,
  'coding.context': codingLooks,
  'coding.files': codingLooks,
  'coding.replay': codingReplays,
  'coding.replayRun': codingReplays,
  'coding.replayCounterfactual': codingReplays,
  'coding.diffRuns': codingReplays,
  'coding.exportRun': codingReplays,

  'transaction.txn': lifeCycle,
  'transaction.committed': isolation,
  'transaction.isInConflict': isolation,
  'transaction.as': isolation,
  'transaction.write': lifeCycle,
  'transaction.delete': lifeCycle,
  'transaction.get': lifeCycle,
  'transaction.scan': lifeCycle,
  'transaction.commit': lifeCycle,
  'transaction.abort': lifeCycle,

  'beliefs.list': beliefVerbs,
  'beliefs.commit': beliefVerbs,
  'beliefs.settle': beliefVerbs,
  'beliefs.revert': beliefVerbs,
  'beliefs.strategy': beliefVerbs,
  'beliefs.setStrategy': beliefVerbs,

  'fleet.agents': fleetVerbs,
  'fleet.tasks': fleetVerbs,
  'fleet.task': fleetVerbs,
  'fleet.change': fleetVerbs,
  'fleet.end': fleetVerbs,

  'tasks.start': fleetVerbs,
  'tasks.claim': fleetVerbs,
  'tasks.end': fleetVerbs,
  'tasks.verificationFailed': fleetVerbs,

  'agent.at': fleetVerbs,
  'agent.branch': fleetVerbs,
  'agent.beliefs': fleetVerbs,
  'agent.state': fleetVerbs,
  'agent.replay': fleetVerbs,
  'agent.fold': fleetVerbs,
  'agent.known': fleetVerbs,

  'agentBeliefs.list': fleetVerbs,
  'agentBeliefs.commit': fleetVerbs,

  'exporting.text': importing,
  'exporting.files': importing,

  'recorder.branch': record,
  'recorder.uses': recorderVerbs,
  'recorder.run': record,
  'recorder.turn': recorderVerbs,
  'recorder.inTurn': forwardVerbs,
  'recorder.task': recorderVerbs,
  'recorder.call': record,
  'recorder.startCall': recorderVerbs,
  'recorder.ask': personVerbs,
  'recorder.answer': personVerbs,
  'recorder.waiting': personVerbs,
  'recorder.message': recorderVerbs,
  'recorder.event': recorderVerbs,
  'recorder.startRun': recorderVerbs,
  'recorder.flush': recorderVerbs,
  'recorder.close': recorderVerbs,
};
