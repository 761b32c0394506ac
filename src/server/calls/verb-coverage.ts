import type { AgentBranch } from '../../engine/agents/agent.ts';
import type { Beliefs } from '../../engine/believing/beliefs.ts';
import type { Branch } from '../../engine/branch.ts';
import type { Coding } from '../../engine/coding/coding.ts';
import type { Fleet, Tasks } from '../../engine/fleet/fleet.ts';
import type { Look } from '../../engine/look.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { Session } from '../../engine/session.ts';
import type { State } from '../../engine/state/state.ts';
import type { StateService } from '../../wire/generated/reprise/v1/state_pb.ts';
import type { StoreService } from '../../wire/generated/reprise/v1/store_pb.ts';
import type { VerbName } from './verb-table.ts';

/** How a verb is reached over the wire: through the door, by a call with its own messages, or not, and why. */
type Reached =
  | { readonly verb: VerbName }
  | { readonly call: keyof typeof StateService.method | keyof typeof StoreService.method }
  | { readonly none: string };

type VerbOf<Handle, Field extends keyof Handle = never> = Exclude<keyof Handle & string, Field>;

const runsCode = 'It runs code of the caller: open the server by its URL, and it runs where the caller is.';
const isLocal = 'It changes nothing and reads nothing: the arguments name namespace, ref and agent.';
const ofFiles = 'It reads or writes files of the caller: open the server by its URL, and it works on those.';

/** How every verb of the library is reached over the wire. A new verb without a line does not compile. */
export const verbCoverage: Readonly<
  Record<
    | `reprise.${VerbOf<Reprise>}`
    | `look.${VerbOf<Look>}`
    | `branch.${Exclude<VerbOf<Branch, 'sessionId' | 'name'>, keyof Look>}`
    | `session.${Exclude<VerbOf<Session, 'id'>, keyof Branch>}`
    | `state.${VerbOf<State, 'agent'>}`
    | `coding.${VerbOf<Coding, 'agent'>}`
    | `beliefs.${VerbOf<Beliefs>}`
    | `fleet.${VerbOf<Fleet>}`
    | `tasks.${VerbOf<Tasks>}`
    | `agent.${VerbOf<AgentBranch, 'agent' | 'name'>}`,
    Reached
  >
> = {
  'reprise.currentNamespace': { none: isLocal },
  'reprise.namespace': { none: isLocal },
  'reprise.session': { verb: 'reprise.session' },
  'reprise.createSession': { verb: 'reprise.createSession' },
  'reprise.sessions': { verb: 'reprise.sessions' },
  'reprise.sessionsPage': { verb: 'reprise.sessionsPage' },
  'reprise.at': { none: isLocal },
  'reprise.replay': { verb: 'reprise.replay' },
  'reprise.diff': { verb: 'reprise.diff' },
  'reprise.import': { none: ofFiles },
  'reprise.importAll': { none: ofFiles },
  'reprise.copy': { none: 'It needs two stores: open the server by its URL, and copy there.' },
  'reprise.resolve': { verb: 'reprise.resolve' },
  'reprise.verifyAll': { none: 'Ask for look.verify of the sessions that reprise.sessions gives.' },
  'reprise.experiment': { none: runsCode },
  'reprise.findExperiment': { verb: 'reprise.findExperiment' },
  'reprise.sessionSize': { verb: 'reprise.sessionSize' },
  'reprise.health': { call: 'getHealth' },
  'reprise.close': { none: 'The server closes its store itself.' },
  'look.state': { none: isLocal },
  'look.beliefs': { none: isLocal },
  'look.fleet': { none: isLocal },
  'look.coding': { none: isLocal },
  'look.as': { none: isLocal },
  'look.locate': { verb: 'look.locate' },
  'look.fold': { verb: 'look.fold' },
  'look.folds': { verb: 'look.folds' },
  'look.replay': { verb: 'look.replay' },
  'look.find': { verb: 'look.find' },
  'look.findLast': { verb: 'look.findLast' },
  'look.known': { verb: 'look.known' },
  'look.metadata': { verb: 'look.metadata' },
  'look.resumable': { none: runsCode },
  'look.counterfactual': { verb: 'look.counterfactual' },
  'look.diff': { verb: 'reprise.diff' },
  'look.fingerprint': { verb: 'look.fingerprint' },
  'look.verify': { verb: 'look.verify' },
  'look.prove': { verb: 'look.prove' },
  'look.audit': { verb: 'look.audit' },
  'look.fork': { verb: 'look.fork' },
  'look.retry': { none: runsCode },
  'look.experiment': { none: runsCode },
  'look.export': { verb: 'look.export' },
  'look.handBack': { verb: 'look.handBack' },
  'look.exportBundle': { none: ofFiles },
  'branch.at': { none: isLocal },
  'branch.using': { none: runsCode },
  'branch.append': { verb: 'branch.append' },
  'branch.record': { none: runsCode },
  'branch.resume': { none: runsCode },
  'branch.runForward': { none: runsCode },
  'branch.edit': { verb: 'branch.edit' },
  'branch.rewind': { verb: 'branch.rewind' },
  'branch.revert': { verb: 'branch.revert' },
  'branch.redo': { verb: 'branch.redo' },
  'branch.spawn': { verb: 'branch.spawn' },
  'branch.mutate': { verb: 'branch.mutate' },
  'branch.setMetadata': { verb: 'branch.setMetadata' },
  'branch.masker': { none: runsCode },
  'session.branch': { verb: 'session.branch' },
  'session.branches': { verb: 'session.branches' },
  'session.tree': { verb: 'session.tree' },
  'session.erase': { verb: 'session.erase' },
  'session.archiveBranch': { verb: 'session.archiveBranch' },
  'session.deleteBranch': { verb: 'session.deleteBranch' },
  'session.repair': { verb: 'session.repair' },
  'session.dropSnapshots': { verb: 'session.dropSnapshots' },
  'session.toJSON': { verb: 'session.toJSON' },
  'session.delete': { verb: 'session.delete' },
  'state.as': { none: isLocal },
  'state.begin': { call: 'beginTransaction' },
  'state.openTransaction': { none: isLocal },
  'state.transaction': { verb: 'state.transaction' },
  'state.get': { verb: 'state.get' },
  'state.keys': { verb: 'state.keys' },
  'state.scan': { verb: 'state.scan' },
  'state.history': { verb: 'state.history' },
  'state.replay': { verb: 'state.replay' },
  'state.diff': { verb: 'state.diff' },
  'coding.as': { none: isLocal },
  'coding.startRun': { verb: 'coding.startRun' },
  'coding.endRun': { verb: 'coding.endRun' },
  'coding.goal': { verb: 'coding.goal' },
  'coding.constraint': { verb: 'coding.constraint' },
  'coding.testRun': { verb: 'coding.testRun' },
  'coding.patch': { verb: 'coding.patch' },
  'coding.decision': { verb: 'coding.decision' },
  'coding.procedure': { verb: 'coding.procedure' },
  'coding.evidence': { verb: 'coding.evidence' },
  'coding.risk': { verb: 'coding.risk' },
  'coding.fact': { verb: 'coding.fact' },
  'coding.command': { none: 'It is open until it ends: append its call.started and call.ended.' },
  'coding.prepareRequest': { verb: 'coding.prepareRequest' },
  'coding.configure': { verb: 'coding.configure' },
  'coding.context': { verb: 'coding.context' },
  'coding.files': { verb: 'coding.files' },
  'coding.replay': { verb: 'coding.replay' },
  'coding.replayRun': { verb: 'coding.replayRun' },
  'coding.replayCounterfactual': { verb: 'coding.replayCounterfactual' },
  'coding.diffRuns': { verb: 'coding.diffRuns' },
  'coding.exportRun': { none: ofFiles },
  'beliefs.list': { verb: 'beliefs.list' },
  'beliefs.commit': { verb: 'beliefs.commit' },
  'beliefs.settle': { verb: 'beliefs.settle' },
  'beliefs.revert': { verb: 'beliefs.revert' },
  'beliefs.strategy': { verb: 'beliefs.strategy' },
  'beliefs.setStrategy': { verb: 'beliefs.setStrategy' },
  'fleet.agents': { verb: 'fleet.agents' },
  'fleet.tasks': { verb: 'fleet.tasks' },
  'fleet.task': { none: isLocal },
  'fleet.change': { verb: 'fleet.change' },
  'fleet.end': { verb: 'fleet.end' },
  'tasks.start': { verb: 'fleet.task.start' },
  'tasks.claim': { verb: 'fleet.task.claim' },
  'tasks.end': { verb: 'fleet.task.end' },
  'tasks.verificationFailed': { verb: 'fleet.task.verificationFailed' },
  'agent.at': { none: isLocal },
  'agent.branch': { none: isLocal },
  'agent.state': { none: isLocal },
  'agent.beliefs': { verb: 'agent.beliefs.commit' },
  'agent.replay': { verb: 'agent.replay' },
  'agent.fold': { verb: 'agent.fold' },
  'agent.known': { verb: 'agent.known' },
};
