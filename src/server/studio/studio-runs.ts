import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { RepriseError } from '../../core/error.ts';
import { isObject, type JsonValue } from '../../core/json.ts';
import type { EventStore } from '../../core/store/event-store.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { hasEdits, questionAnswerFrom, runOrderFrom } from '../../reading/looks/run-orders.ts';
import type { StudioService } from '../../wire/generated/reprise/v1/studio_pb.ts';
import type { DoneChanges } from '../calls/done-changes.ts';
import type { VerbParts } from '../calls/verb-parts.ts';
import { checkNamespace, checkRight, checkUnbound, type Grant, hasRight } from '../guarding/grant.ts';
import { listIn, objectIn } from '../http/json-text.ts';
import type { PageExport, ReadyPage } from './exported-page.ts';
import { follow } from './follow-stream.ts';
import type { RunBook, RunName } from './run-book.ts';
import { runText } from './run-text.ts';

/** The parts that the live calls of the studio need. */
export interface StudioParts extends VerbParts {
  readonly grantOf: (context: HandlerContext) => Grant;
  readonly storeOf: (grant: Grant) => EventStore;
  /** Throws if the token of a call is no longer valid. */
  readonly recheck: (context: HandlerContext) => Promise<void>;
  /** Undefined where the server was started without agents. */
  readonly runs: RunBook | undefined;
  readonly done: DoneChanges;
  /** Returns what `reprise doctor` says of the store. */
  readonly diagnose: ((reprise: Reprise) => Promise<JsonValue>) | undefined;
  /** Returns the engine of the server for a token that was made for it alone; undefined for every other token. */
  readonly ownReprise: (grant: Grant) => Reprise | undefined;
  /** Bundles a history for a page. A server without a studio has none. */
  readonly page: ((asked: AskedPage) => Promise<ReadyPage>) | undefined;
}

/** A page that a caller asks for, read from the store of the caller. */
export type AskedPage = Pick<PageExport, 'store' | 'namespace' | 'ref' | 'rules'>;

/** The calls of the studio about runs, what is live, and the store. */
export type LiveCall =
  | 'listAgents'
  | 'startRun'
  | 'answerQuestion'
  | 'stopRun'
  | 'listRuns'
  | 'follow'
  | 'readStore'
  | 'exportPage';

const isSeenBy =
  ({ namespaces }: Grant) =>
  (run: RunName): boolean =>
    namespaces === undefined || namespaces.includes(run.namespace);

/** Returns the calls of the studio about runs, what is live, and the store. */
export function studioRuns(parts: StudioParts): Pick<ServiceImpl<typeof StudioService>, LiveCall> {
  const { grantOf, runs, done } = parts;
  /** Returns the runs for a caller that may start and steer them. */
  const steering = (context: HandlerContext, attempted: string): { readonly grant: Grant; readonly runs: RunBook } => {
    const grant = grantOf(context);
    checkRight(grant, 'run', attempted);
    checkUnbound(grant, attempted);
    return { grant, runs: runs ?? noAgents(attempted) };
  };
  const ofCaller = (grant: Grant, { namespace }: RunName): void => checkNamespace(grant, namespace);
  return {
    listAgents: (_, context) => {
      const grant = grantOf(context);
      checkUnbound(grant, 'list agents');
      const reason =
        runs === undefined ? noAgentsReason : hasRight(grant, 'run') ? '' : 'The token lacks the right "run".';
      const agents = runs === undefined || reason !== '' ? [] : runs.agents();
      return { canRun: reason === '', reason, agents: agents.map((row) => JSON.stringify(row)) };
    },
    async startRun({ namespace: named, session, point, order, requestId }, context) {
      const { grant, runs: book } = steering(context, 'start a run');
      const namespace = named === '' ? 'default' : named;
      checkNamespace(grant, namespace);
      const asked = runOrderFrom(objectIn(order, 'order'));
      if (hasEdits(asked)) checkRight(grant, 'append', 'start a run with edits');
      const place = { namespace, session, point: point === '' ? 'main' : point };
      const change = { call: 'StartRun', requestId, request: [place, order] };
      const run = await done.once(grant, change, () => book.start(asked, place));
      return { run: runText(await book.run(run)) };
    },
    async answerQuestion({ run, question, answer }, context) {
      const { grant, runs: book } = steering(context, 'answer a question');
      ofCaller(grant, await book.run(run));
      const accepted = await book.answer(run, question, questionAnswerFrom(objectIn(answer, 'answer')));
      return { accepted, run: runText(await book.run(run)) };
    },
    async stopRun({ run }, context) {
      const { grant, runs: book } = steering(context, 'stop a run');
      ofCaller(grant, await book.run(run));
      return { run: runText(await book.stop(run)) };
    },
    listRuns: async (_, context) => {
      const grant = grantOf(context);
      checkRight(grant, 'read', 'list runs');
      checkUnbound(grant, 'list runs');
      const seen = ((await runs?.list()) ?? []).filter(isSeenBy(grant));
      return { runs: seen.map((run) => runText(run, seen.length)) };
    },
    ...liveCalls(parts),
  };
}

/** Returns the stream of what is live, and the look at the store. */
function liveCalls(parts: StudioParts): Pick<ServiceImpl<typeof StudioService>, 'follow' | 'readStore' | 'exportPage'> {
  const { grantOf, runs } = parts;
  return {
    async *follow({ subscriptions }, context) {
      const grant = grantOf(context);
      checkRight(grant, 'read', 'follow');
      yield* follow(
        {
          store: parts.storeOf(grant),
          repriseOf: (namespace) => parts.repriseOf(context, namespace),
          runs,
          isSeen: isSeenBy(grant),
          recheck: () => parts.recheck(context),
          signal: AbortSignal.any([context.signal, parts.draining]),
        },
        subscriptions,
      );
    },
    async *exportPage({ namespace, ref, rules, preview }, context) {
      const grant = grantOf(context);
      checkRight(grant, 'read', 'export a page');
      const reprise = parts.repriseOf(context, namespace);
      const asked = {
        store: parts.storeOf(grant),
        namespace: reprise.currentNamespace,
        ref: await reprise.resolve(ref),
      };
      const page = await parts.page?.({ ...asked, rules: listIn(rules, 'rules').map(String) });
      yield { preview: JSON.stringify(page?.preview ?? null) };
      const bytes = preview || page === undefined ? new Uint8Array() : new TextEncoder().encode(page.text());
      for (let at = 0; at < bytes.length; at += pieceBytes) yield { piece: bytes.subarray(at, at + pieceBytes) };
    },
    async readStore({ namespace: named }, context) {
      const grant = grantOf(context);
      const namespace = named === '' ? 'default' : named;
      checkRight(grant, 'read', 'read about the store');
      checkNamespace(grant, namespace);
      const guarded = parts.repriseOf(context, namespace);
      if (parts.diagnose === undefined)
        throw new RepriseError('store.unsupported', 'Cannot examine the store: this server was not started to do it', {
          hint: 'Run "reprise doctor" on the machine of the store.',
        });
      const own = parts.ownReprise(grant)?.namespace(namespace);
      const answer = await parts.diagnose(own ?? guarded);
      // The place of the store and the room on its disk are for those who run the machine.
      const shown = own === undefined && isObject(answer) ? { ...answer, location: '', freeBytes: null } : answer;
      return { answer: JSON.stringify(shown) };
    },
  };
}

/** Bytes of a page in one message. */
const pieceBytes = 1_048_576;

const noAgentsReason = 'The server was started without agents: start it with --agents.';

function noAgents(attempted: string): never {
  throw new RepriseError('agent.not-found', `Cannot ${attempted}: the server has no agents`, {
    hint: 'Start it with --agents, in the folder of a reprise.config.ts that names them.',
  });
}
