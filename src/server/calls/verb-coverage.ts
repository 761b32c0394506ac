import type { AgentVerbs } from '../../engine/agents/agent-verbs.ts';
import type { BeliefsHandle } from '../../engine/believing/beliefs-handle.ts';
import type { Branch } from '../../engine/branch.ts';
import type { CodingHandle } from '../../engine/coding/coding-handle.ts';
import type { FleetHandle } from '../../engine/fleet/fleet-handle.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { Session } from '../../engine/session.ts';
import type { StateHandle } from '../../engine/state/state-handle.ts';
import type { StateService } from '../../wire/generated/reprise/v1/state_pb.ts';
import type { StoreService } from '../../wire/generated/reprise/v1/store_pb.ts';
import type { VerbName } from './verb-table.ts';

/** How a verb is reached over the wire: through the door, by a call with messages of its own, or not, and why. */
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
    | `session.${VerbOf<Session, 'id'>}`
    | `branch.${VerbOf<Branch, 'session' | 'name' | 'parent' | 'head' | 'dependents'>}`
    | `state.${VerbOf<StateHandle, 'branch' | 'agent'>}`
    | `coding.${VerbOf<CodingHandle, 'branch' | 'agent'>}`
    | `beliefs.${VerbOf<BeliefsHandle, 'branch'>}`
    | `fleet.${VerbOf<FleetHandle, 'branch'>}`
    | `tasks.${VerbOf<FleetHandle['tasks']>}`
    | `agent.${VerbOf<AgentVerbs, 'branch' | 'agent'>}`,
    Reached
  >
> = {
  'reprise.currentNamespace': { none: isLocal },
  'reprise.namespace': { none: isLocal },
  'reprise.session': { verb: 'reprise.session' },
  'reprise.createSession': { verb: 'reprise.createSession' },
  'reprise.sessions': { verb: 'reprise.sessions' },
  'reprise.sessionsPage': { verb: 'reprise.sessionsPage' },
  'reprise.replay': { verb: 'reprise.replay' },
  'reprise.diff': { verb: 'reprise.diff' },
  'reprise.import': { none: ofFiles },
  'reprise.importAll': { none: ofFiles },
  'reprise.exportFiles': { verb: 'look.exportFiles' },
  'reprise.exportPieces': { none: 'look.exportFiles answers with all of it.' },
  'reprise.exportBundle': { none: ofFiles },
  'reprise.handBack': { verb: 'look.handBack' },
  'reprise.prove': { verb: 'look.prove' },
  'reprise.export': { verb: 'look.export' },
  'reprise.copy': { none: 'It needs two stores: open the server by its URL, and copy there.' },
  'reprise.resolve': { verb: 'reprise.resolve' },
  'reprise.verifyAll': { none: 'Ask for look.verify of the sessions that reprise.sessions gives.' },
  'reprise.experiment': { none: runsCode },
  'reprise.findExperiment': { verb: 'reprise.findExperiment' },
  'reprise.sessionSize': { verb: 'reprise.sessionSize' },
  'reprise.health': { call: 'getHealth' },
  'reprise.close': { none: 'The server closes its store itself.' },

  'session.state': { none: isLocal },
  'session.as': { none: isLocal },
  'session.coding': { none: isLocal },
  'session.beliefs': { none: isLocal },
  'session.fleet': { none: isLocal },
  'session.beliefsAt': { verb: 'beliefs.list' },
  'session.fleetAt': { verb: 'fleet.agents' },
  'session.audit': { verb: 'look.audit' },
  'session.append': { verb: 'branch.append' },
  'session.record': { none: runsCode },
  'session.replay': { verb: 'look.replay' },
  'session.find': { verb: 'look.find' },
  'session.findLast': { verb: 'look.findLast' },
  'session.stateAt': { verb: 'look.fold' },
  'session.counterfactual': { verb: 'look.counterfactual' },
  'session.fork': { verb: 'look.fork' },
  'session.branch': { verb: 'session.branch' },
  'session.tree': { verb: 'session.tree' },
  'session.edit': { verb: 'branch.edit' },
  'session.rewind': { verb: 'branch.rewind' },
  'session.revert': { verb: 'branch.revert' },
  'session.redo': { verb: 'branch.redo' },
  'session.archiveBranch': { verb: 'session.archiveBranch' },
  'session.deleteBranch': { verb: 'session.deleteBranch' },
  'session.erase': { verb: 'session.erase' },
  'session.fingerprint': { verb: 'look.fingerprint' },
  'session.verify': { verb: 'look.verify' },
  'session.repair': { verb: 'session.repair' },
  'session.locate': { verb: 'look.locate' },
  'session.metadata': { verb: 'look.metadata' },
  'session.setMetadata': { verb: 'branch.setMetadata' },
  'session.masker': { none: runsCode },
  'session.resume': { none: runsCode },
  'session.resumable': { none: runsCode },
  'session.retry': { none: runsCode },
  'session.experiment': { none: runsCode },
  'session.dropSnapshots': { verb: 'session.dropSnapshots' },
  'session.toJSON': { verb: 'session.toJSON' },
  'session.delete': { verb: 'session.delete' },

  'branch.append': { verb: 'branch.append' },
  'branch.record': { none: runsCode },
  'branch.replay': { verb: 'look.replay' },
  'branch.project': { verb: 'look.fold' },
  'branch.state': { none: isLocal },
  'branch.coding': { none: isLocal },
  'branch.beliefs': { none: isLocal },
  'branch.fleet': { none: isLocal },
  'branch.as': { none: isLocal },
  'branch.beliefsAt': { verb: 'beliefs.list' },
  'branch.fleetAt': { verb: 'fleet.agents' },
  'branch.audit': { verb: 'look.audit' },
  'branch.spawn': { verb: 'fleet.spawn' },
  'branch.mutate': { verb: 'fleet.mutate' },
  'branch.runForward': { none: runsCode },
  'branch.edit': { verb: 'branch.edit' },
  'branch.redo': { verb: 'branch.redo' },
  'branch.resume': { none: runsCode },
  'branch.resumable': { none: runsCode },
  'branch.fingerprint': { verb: 'look.fingerprint' },
  'branch.verify': { verb: 'look.verify' },

  'state.as': { none: isLocal },
  'state.on': { none: isLocal },
  'state.begin': { call: 'beginTransaction' },
  'state.openTransaction': { none: isLocal },
  'state.transaction': { verb: 'state.transaction' },
  'state.get': { verb: 'state.get' },
  'state.getAt': { verb: 'state.get' },
  'state.keys': { verb: 'state.keys' },
  'state.scan': { verb: 'state.scan' },
  'state.history': { verb: 'state.history' },
  'state.replay': { verb: 'state.replay' },
  'state.diff': { verb: 'state.diff' },

  'coding.as': { none: isLocal },
  'coding.on': { none: isLocal },
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
  'coding.contextAt': { verb: 'coding.context' },
  'coding.filesAt': { verb: 'coding.files' },
  'coding.replayAt': { verb: 'coding.replay' },
  'coding.replayRun': { verb: 'coding.replayRun' },
  'coding.replayCounterfactual': { verb: 'coding.replayCounterfactual' },
  'coding.diffRuns': { verb: 'coding.diffRuns' },
  'coding.exportRun': { none: ofFiles },

  'beliefs.on': { none: isLocal },
  'beliefs.using': { none: runsCode },
  'beliefs.commit': { verb: 'beliefs.commit' },
  'beliefs.settle': { verb: 'beliefs.settle' },
  'beliefs.revert': { verb: 'beliefs.revert' },
  'beliefs.strategy': { verb: 'beliefs.strategy' },
  'beliefs.setStrategy': { verb: 'beliefs.setStrategy' },
  'fleet.on': { none: isLocal },
  'fleet.using': { none: runsCode },
  'fleet.tasks': { none: isLocal },
  'fleet.spawn': { verb: 'fleet.spawn' },
  'fleet.change': { verb: 'fleet.change' },
  'fleet.end': { verb: 'fleet.end' },
  'fleet.mutate': { verb: 'fleet.mutate' },
  'fleet.runForward': { none: runsCode },
  'tasks.start': { verb: 'fleet.task.start' },
  'tasks.claim': { verb: 'fleet.task.claim' },
  'tasks.end': { verb: 'fleet.task.end' },
  'tasks.verificationFailed': { verb: 'fleet.task.verificationFailed' },
  'agent.on': { none: isLocal },
  'agent.state': { none: isLocal },
  'agent.beliefs': { verb: 'agent.beliefs.commit' },
  'agent.beliefsAt': { verb: 'agent.beliefs.list' },
  'agent.replay': { verb: 'agent.replay' },
  'agent.stateAt': { verb: 'agent.fold' },
  'agent.knownAt': { verb: 'agent.known' },
};
