import type { AgentVerbs } from '../../engine/agents/agent-verbs.ts';
import type { BeliefsHandle } from '../../engine/believing/beliefs-handle.ts';
import type { Branch } from '../../engine/branch.ts';
import type { CodingHandle } from '../../engine/coding/coding-handle.ts';
import type { FleetHandle } from '../../engine/fleet/fleet-handle.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { Session } from '../../engine/session.ts';
import type { StateHandle } from '../../engine/state/state-handle.ts';
import type { CodingService } from '../../wire/generated/reprise/v1/coding_pb.ts';
import type { FleetService } from '../../wire/generated/reprise/v1/fleet_pb.ts';
import type { SessionService } from '../../wire/generated/reprise/v1/session_pb.ts';
import type { StateService } from '../../wire/generated/reprise/v1/state_pb.ts';

/** A call of the verb services. */
type Call =
  | keyof typeof SessionService.method
  | keyof typeof StateService.method
  | keyof typeof CodingService.method
  | keyof typeof FleetService.method;

/** How a verb is reached over the wire: by a call, or not, and why. */
type Reached = { readonly call: Call } | { readonly none: string };

type VerbOf<Handle, Field extends keyof Handle = never> = Exclude<keyof Handle & string, Field>;

const runsCode = 'It runs code of the caller: open the server by its URL, and it runs where the caller is.';
const isLocal = 'It changes nothing and reads nothing: a call names its namespace, branch or agent itself.';
const ofFiles = 'It reads or writes files of the caller: open the server by its URL, and it works on those.';
const ofSession = 'The call of the session takes the branch as a point.';

/** How every verb of the library is reached over the wire. A new verb without a line does not compile. */
export const verbTable: Readonly<
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
  'reprise.session': { call: 'openSession' },
  'reprise.createSession': { call: 'openSession' },
  'reprise.sessions': { call: 'scanSessions' },
  'reprise.sessionsPage': { call: 'scanSessions' },
  'reprise.replay': { none: 'Replay the sessions one by one, in the order that ScanSessions gives.' },
  'reprise.diff': { call: 'diff' },
  'reprise.import': { none: ofFiles },
  'reprise.importAll': { none: ofFiles },
  'reprise.exportFiles': { call: 'exportFiles' },
  'reprise.exportPieces': { none: 'ExportFiles answers with all of it.' },
  'reprise.exportBundle': { none: ofFiles },
  'reprise.handBack': { call: 'handBack' },
  'reprise.prove': { call: 'proveHistory' },
  'reprise.export': { call: 'exportHistory' },
  'reprise.copy': { none: 'It needs two stores: open the server by its URL, and copy there.' },
  'reprise.resolve': { call: 'resolveRef' },
  'reprise.verifyAll': { none: 'Verify the sessions one by one, in the order that ScanSessions gives.' },
  'reprise.experiment': { none: runsCode },
  'reprise.findExperiment': { call: 'getExperiment' },
  'reprise.sessionSize': { none: 'StoreService.GetSessionSize measures it.' },
  'reprise.health': { none: 'StoreService.GetHealth reports it.' },
  'reprise.close': { none: 'The server closes its store itself.' },

  'session.state': { none: isLocal },
  'session.as': { none: isLocal },
  'session.coding': { none: isLocal },
  'session.beliefs': { none: isLocal },
  'session.fleet': { none: isLocal },
  'session.beliefsAt': { call: 'listBeliefs' },
  'session.fleetAt': { call: 'getFleet' },
  'session.audit': { call: 'auditFleet' },
  'session.append': { call: 'appendEvents' },
  'session.record': { none: runsCode },
  'session.replay': { call: 'replayEvents' },
  'session.find': { call: 'findEvent' },
  'session.findLast': { call: 'findEvent' },
  'session.stateAt': { call: 'getStateAt' },
  'session.counterfactual': { call: 'counterfactual' },
  'session.fork': { call: 'forkBranch' },
  'session.branch': { call: 'getBranchState' },
  'session.tree': { call: 'getTree' },
  'session.edit': { call: 'editBranch' },
  'session.rewind': { call: 'rewindBranch' },
  'session.revert': { call: 'revertEvent' },
  'session.redo': { call: 'redoBranch' },
  'session.archiveBranch': { call: 'archiveBranch' },
  'session.deleteBranch': { call: 'removeBranch' },
  'session.erase': { call: 'eraseEvent' },
  'session.fingerprint': { call: 'getFingerprint' },
  'session.verify': { call: 'verifySession' },
  'session.repair': { none: 'StoreService.Reindex and StoreService.DropSnapshots do it.' },
  'session.locate': { call: 'locatePoint' },
  'session.metadata': { call: 'getMetadata' },
  'session.setMetadata': { call: 'setMetadata' },
  'session.masker': { none: runsCode },
  'session.resume': { none: runsCode },
  'session.resumable': { none: runsCode },
  'session.retry': { none: runsCode },
  'session.experiment': { none: runsCode },
  'session.dropSnapshots': { none: 'StoreService.DropSnapshots does it.' },
  'session.toJSON': { call: 'describeSession' },
  'session.delete': { call: 'removeSession' },

  'branch.append': { none: ofSession },
  'branch.record': { none: runsCode },
  'branch.replay': { none: ofSession },
  'branch.project': { none: ofSession },
  'branch.state': { none: isLocal },
  'branch.coding': { none: isLocal },
  'branch.beliefs': { none: isLocal },
  'branch.fleet': { none: isLocal },
  'branch.as': { none: isLocal },
  'branch.beliefsAt': { call: 'listBeliefs' },
  'branch.fleetAt': { call: 'getFleet' },
  'branch.audit': { call: 'auditFleet' },
  'branch.spawn': { call: 'changeFleet' },
  'branch.mutate': { call: 'changeFleet' },
  'branch.runForward': { none: runsCode },
  'branch.edit': { none: ofSession },
  'branch.redo': { none: ofSession },
  'branch.resume': { none: runsCode },
  'branch.resumable': { none: runsCode },
  'branch.fingerprint': { none: ofSession },
  'branch.verify': { none: ofSession },

  'state.as': { none: isLocal },
  'state.on': { none: isLocal },
  'state.begin': { call: 'beginTransaction' },
  'state.openTransaction': { none: isLocal },
  'state.transaction': { call: 'commitState' },
  'state.get': { call: 'getState' },
  'state.getAt': { call: 'getState' },
  'state.keys': { call: 'listKeys' },
  'state.scan': { call: 'scanState' },
  'state.history': { call: 'getHistory' },
  'state.replay': { call: 'replayState' },
  'state.diff': { call: 'diffState' },

  'coding.as': { none: isLocal },
  'coding.on': { none: isLocal },
  'coding.startRun': { call: 'recordCoding' },
  'coding.endRun': { call: 'recordCoding' },
  'coding.goal': { call: 'recordCoding' },
  'coding.constraint': { call: 'recordCoding' },
  'coding.testRun': { call: 'recordCoding' },
  'coding.patch': { call: 'recordCoding' },
  'coding.decision': { call: 'recordCoding' },
  'coding.procedure': { call: 'recordCoding' },
  'coding.evidence': { call: 'recordCoding' },
  'coding.risk': { call: 'recordCoding' },
  'coding.fact': { call: 'recordCoding' },
  'coding.command': { none: 'It is open until it ends: append its call.started and call.ended.' },
  'coding.prepareRequest': { call: 'prepareRequest' },
  'coding.configure': { call: 'configureCoding' },
  'coding.contextAt': { call: 'getContext' },
  'coding.filesAt': { call: 'getFiles' },
  'coding.replayAt': { call: 'replayCoding' },
  'coding.replayRun': { call: 'replayCoding' },
  'coding.replayCounterfactual': { call: 'replayCodingWithout' },
  'coding.diffRuns': { call: 'diffRuns' },
  'coding.exportRun': { none: ofFiles },

  'beliefs.on': { none: isLocal },
  'beliefs.using': { none: runsCode },
  'beliefs.commit': { call: 'commitBelief' },
  'beliefs.settle': { call: 'changeFleet' },
  'beliefs.revert': { call: 'changeFleet' },
  'beliefs.strategy': { call: 'getStrategy' },
  'beliefs.setStrategy': { call: 'changeFleet' },
  'fleet.on': { none: isLocal },
  'fleet.using': { none: runsCode },
  'fleet.tasks': { none: isLocal },
  'fleet.spawn': { call: 'changeFleet' },
  'fleet.change': { call: 'changeFleet' },
  'fleet.end': { call: 'changeFleet' },
  'fleet.mutate': { call: 'changeFleet' },
  'fleet.runForward': { none: runsCode },
  'tasks.start': { call: 'changeFleet' },
  'tasks.claim': { call: 'changeFleet' },
  'tasks.end': { call: 'changeFleet' },
  'tasks.verificationFailed': { call: 'changeFleet' },
  'agent.on': { none: isLocal },
  'agent.state': { none: isLocal },
  'agent.beliefs': { call: 'commitBelief' },
  'agent.beliefsAt': { call: 'listBeliefs' },
  'agent.replay': { call: 'replayAgent' },
  'agent.stateAt': { call: 'getAgentState' },
  'agent.knownAt': { call: 'getKnown' },
};
