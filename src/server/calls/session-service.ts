import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { arrayAt, isArray, type JsonObject } from '../../core/json.ts';
import type { Sha256 } from '../../core/parts/digest.ts';
import type { Point } from '../../core/point.ts';
import type { Replay } from '../../core/session/session-log.ts';
import type { Branch } from '../../engine/branch.ts';
import { textsOf } from '../../engine/looking/replay.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { Session } from '../../engine/session.ts';
import { projectionNamed } from '../../reading/shipped-projections.ts';
import { errorToWire } from '../../wire/error-codec.ts';
import type { SessionService, StreamAppendsRequest } from '../../wire/generated/reprise/v1/session_pb.ts';
import { beatMs } from '../../wire/protocol.ts';
import { fromWhole } from '../../wire/whole-number.ts';
import { batched, gathered } from '../http/batches.ts';
import { jsonIn, listIn, objectIn } from '../http/json-text.ts';

/** The parts of a server that the verbs need. */
export interface VerbParts {
  /** Returns the engine of the caller, on the namespace that the call names. */
  readonly repriseOf: (context: HandlerContext, namespace: string) => Reprise;
  /** Returns where an event is stored, by its id. */
  readonly locate: (context: HandlerContext, name: SessionName, id: string) => Promise<Point | undefined>;
  readonly sha256: Sha256;
  /** Aborts when the server drains. */
  readonly draining: AbortSignal;
}

/** Names a session in a request. */
interface SessionName {
  readonly namespace: string;
  readonly session: string;
}

/** The options of a verb come from outside: the verb itself checks every key and value. */
export function optionsIn<Options>(text: string): Options {
  return objectIn(text, 'options') as Options;
}

/** Says whether a replay goes on with what is still to come. */
export interface FollowOptions {
  readonly follow?: boolean;
}

/**
 * Returns the signal that ends a replay. A server that drains ends those that follow, and lets the others come to their
 * end: half a history that ends well would be a wrong answer.
 */
export function endOf(left: AbortSignal, draining: AbortSignal, { follow }: FollowOptions): AbortSignal {
  return follow === true ? AbortSignal.any([left, draining]) : left;
}

const answerOf = (value: unknown): { readonly answer: string } => ({ answer: JSON.stringify(value ?? null) });
const pointIn = (point: string): string => (point === '' ? 'main' : point);

/** Returns the verbs of a store, a session and a branch. The guard of the caller's store decides about rights. */
export function sessionService(parts: VerbParts): ServiceImpl<typeof SessionService> {
  const at = (context: HandlerContext, { namespace, session }: SessionName): Promise<Session> =>
    parts.repriseOf(context, namespace).session(session);
  return {
    ...looks(parts, at),
    ...changes(at),
    async openSession({ namespace, session, create, metadata }, context) {
      const reprise = parts.repriseOf(context, namespace);
      const options = metadata === '' ? {} : { metadata: objectIn(metadata, 'metadata') };
      const opened =
        create && session === ''
          ? await reprise.createSession(undefined, options)
          : await reprise.session(session, { create, ...options });
      return { session: opened.id };
    },
    async *scanSessions({ namespace, limit }, context) {
      const records = parts.repriseOf(context, namespace).sessions();
      const max = fromWhole(limit);
      const found = gathered(texts(records, max === 0 ? undefined : max));
      for await (const sessions of batched(found, beatMs)) yield { sessions: [...sessions] };
    },
    async removeSession({ confirm, ...name }, context) {
      await (await at(context, name)).delete({ confirm });
      return {};
    },
    async *replayEvents({ options, leaveOut, ...name }, context) {
      const session = await at(context, name);
      const asked = optionsIn<FollowOptions>(options);
      const signal = endOf(context.signal, parts.draining, asked);
      const pages = eventTexts(session.replay({ ...asked, signal }), leaveOut);
      for await (const events of batched(pages, beatMs)) yield { events: [...events] };
    },
    streamAppends: (requests, context) => appendBatches(requests, (name) => at(context, name)),
    async diff({ namespace, left, right, options }, context) {
      const asked = withProjections(optionsIn<JsonObject>(options), parts.sha256);
      return answerOf(await parts.repriseOf(context, namespace).diff(left, right, asked));
    },
    async getExperiment({ namespace, experiment }, context) {
      return answerOf(await parts.repriseOf(context, namespace).findExperiment(experiment));
    },
    async resolveRef({ namespace, ref }, context) {
      return answerOf(await parts.repriseOf(context, namespace).resolve(ref));
    },
    async exportHistory({ namespace, ref, format }, context) {
      return { text: await parts.repriseOf(context, namespace).at(ref).export({ format }).text() };
    },
    async exportFiles({ namespace, ref, format }, context) {
      const { files, ...exported } = await parts.repriseOf(context, namespace).at(ref).export({ format }).files();
      const texts = files.map(({ file, bytes }) => ({ file, base64: Buffer.from(bytes).toString('base64') }));
      return answerOf({ ...exported, files: texts });
    },
    async handBack({ namespace, ref, format }, context) {
      return answerOf(await parts.repriseOf(context, namespace).at(ref).handBack({ format }));
    },
    async proveHistory({ namespace, ref, options }, context) {
      return answerOf(await parts.repriseOf(context, namespace).at(ref).prove(optionsIn(options)));
    },
  };
}

/** Replaces the names of projections to compare by the projections. */
function withProjections(options: JsonObject, sha256: Sha256): object {
  const states = arrayAt(options, 'states');
  if (states === undefined) return options;
  return { ...options, states: states.map((name) => projectionNamed(String(name), sha256).projection) };
}

/** Appends one batch after the other: a later one must not be stored before an earlier one. */
async function* appendBatches(
  requests: AsyncIterable<StreamAppendsRequest>,
  at: (name: SessionName) => Promise<Session>,
) {
  for await (const { batch, events, options, ...name } of requests) {
    try {
      const stored = await appendTexts(await at(name), events, options);
      yield { batch, events: stored };
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error;
      yield { batch, error: errorToWire(error) };
    }
  }
}

async function appendTexts(session: Session, events: readonly string[], options: string): Promise<string[]> {
  const drafts = events.map((text, index) => objectIn(text, `events[${index}]`));
  const stored = await session.append(drafts as never, optionsIn(options));
  return stored.map((event) => JSON.stringify(event));
}

type AtSession = (context: HandlerContext, name: SessionName) => Promise<Session>;

type LookCall =
  | 'findEvent'
  | 'getStateAt'
  | 'counterfactual'
  | 'getFingerprint'
  | 'verifySession'
  | 'locatePoint'
  | 'getTree'
  | 'getBranchState'
  | 'getMetadata'
  | 'describeSession';

function looks({ sha256 }: VerbParts, at: AtSession): Pick<ServiceImpl<typeof SessionService>, LookCall> {
  return {
    async findEvent({ filter, options, last, ...name }, context) {
      const session = await at(context, name);
      const [wanted, where] = [objectIn(filter, 'filter'), optionsIn<object>(options)];
      return answerOf(last ? await session.findLast(wanted, where) : await session.find(wanted, where));
    },
    async getStateAt({ point, projection, options, ...name }, context) {
      const { projection: named } = projectionNamed(projection, sha256);
      return answerOf(await (await at(context, name)).at(pointIn(point)).fold(named, optionsIn(options)));
    },
    async counterfactual({ point, projection, options, ...name }, context) {
      const { projection: named } = projectionNamed(projection, sha256);
      return answerOf(await (await at(context, name)).at(pointIn(point)).counterfactual(named, optionsIn(options)));
    },
    async getFingerprint({ point, ...name }, context) {
      return answerOf(await (await at(context, name)).at(pointIn(point)).fingerprint());
    },
    async verifySession({ options, ...name }, context) {
      return answerOf(await (await at(context, name)).verify(optionsIn(options)));
    },
    async locatePoint({ point, ...name }, context) {
      return answerOf(await (await at(context, name)).at(pointIn(point)).locate());
    },
    async getTree(name, context) {
      return answerOf(await (await at(context, name)).tree());
    },
    async getBranchState({ branch, ...name }, context) {
      return answerOf(branchAnswer((await at(context, name)).branch(pointIn(branch))));
    },
    async getMetadata({ point, ...name }, context) {
      return answerOf(await (await at(context, name)).metadata(pointIn(point)));
    },
    async describeSession(name, context) {
      return answerOf(await (await at(context, name)).toJSON());
    },
  };
}

type ChangeCall =
  | 'appendEvents'
  | 'forkBranch'
  | 'editBranch'
  | 'rewindBranch'
  | 'revertEvent'
  | 'redoBranch'
  | 'eraseEvent'
  | 'archiveBranch'
  | 'removeBranch'
  | 'setMetadata';

function changes(at: AtSession): Pick<ServiceImpl<typeof SessionService>, ChangeCall> {
  return {
    async appendEvents({ events, options, ...name }, context) {
      return { events: await appendTexts(await at(context, name), events, options) };
    },
    async forkBranch({ point, options, ...name }, context) {
      return answerOf(branchAnswer(await (await at(context, name)).fork(pointIn(point), optionsIn(options))));
    },
    async editBranch({ point, edits, options, ...name }, context) {
      const list = jsonIn(edits, 'edits');
      const asked = isArray(list) ? listIn(edits, 'edits') : objectIn(edits, 'edits');
      return answerOf(await (await at(context, name)).edit(pointIn(point), asked as never, optionsIn(options)));
    },
    async rewindBranch({ point, options, ...name }, context) {
      return answerOf(await (await at(context, name)).rewind(pointIn(point), optionsIn(options)));
    },
    async revertEvent({ point, options, ...name }, context) {
      return answerOf(await (await at(context, name)).revert(pointIn(point), optionsIn(options)));
    },
    async redoBranch({ point, options, ...name }, context) {
      return answerOf(await (await at(context, name)).redo(pointIn(point), optionsIn(options)));
    },
    async eraseEvent({ point, options, ...name }, context) {
      return answerOf(await (await at(context, name)).erase(pointIn(point), optionsIn(options)));
    },
    async archiveBranch({ branch, options, ...name }, context) {
      await (await at(context, name)).archiveBranch(branch, optionsIn(options));
      return {};
    },
    async removeBranch({ branch, options, ...name }, context) {
      return answerOf(await (await at(context, name)).deleteBranch(branch, optionsIn(options)));
    },
    async setMetadata({ set, options, ...name }, context) {
      await (await at(context, name)).setMetadata(objectIn(set, 'set'), optionsIn(options));
      return {};
    },
  };
}

function branchAnswer({ name, parent, head }: Branch): object {
  return { name, parent: parent ?? null, head };
}

/** Returns items as JSON text, at most so many. */
export async function* texts(items: AsyncIterable<unknown>, max?: number): AsyncGenerator<string, void, undefined> {
  let count = 0;
  for await (const item of items) {
    if (max !== undefined && count++ >= max) return;
    yield JSON.stringify(item);
  }
}

/** Returns the events of a replay as pages of JSON text, without some of their fields. */
export function eventTexts(replay: Replay, leaveOut: readonly string[]): AsyncIterable<readonly string[]> {
  return leaveOut.length === 0 ? textsOf(replay) : gathered(shortened(replay, leaveOut));
}

async function* shortened(
  events: AsyncIterable<Event>,
  fields: readonly string[],
): AsyncGenerator<string, void, undefined> {
  for await (const event of events) {
    const kept: Record<string, unknown> = { ...event };
    for (const field of fields) delete kept[field];
    yield JSON.stringify(kept);
  }
}
