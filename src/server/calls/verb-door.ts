import { RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import type { JsonObject } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { Sha256 } from '../../core/parts/digest.ts';
import type { Point } from '../../core/point.ts';
import { parseRef, pointText, type Ref } from '../../core/ref.ts';
import { utf8Length } from '../../core/utf8.ts';
import type { Look } from '../../engine/look.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { beatMs } from '../../wire/protocol.ts';
import { checkNamespace, checkRight, checkUnbound, type Grant, type Right } from '../guarding/grant.ts';
import { batched } from '../http/batches.ts';
import { endOf } from './answer-texts.ts';
import type { DoneChanges } from './done-changes.ts';
import { isWriting, readArguments, refused } from './verb-arguments.ts';
import type { AnswerPages, LookPlace, SessionPlace, StorePlace, VerbEntry } from './verb-entry.ts';
import { isVerb, verbNamed } from './verb-table.ts';

/** The parts of a server that the verbs need. */
export interface DoorParts {
  /** Returns the engine of a caller on a namespace. */
  readonly repriseOf: (grant: Grant, namespace: string) => Reprise;
  /** Does the same for verbs that a token which is bound to an agent may ask for. */
  readonly stateOf: (grant: Grant, namespace: string) => Reprise;
  /** Returns where an event is stored, by its id. */
  readonly locate: (
    grant: Grant,
    ref: { readonly namespace: string; readonly session: string },
    id: string,
  ) => Promise<Point | undefined>;
  readonly sha256: Sha256;
  /** Recognizes repeated changes. */
  readonly done: Pick<DoneChanges, 'once'>;
  /** Aborts when the server drains. */
  readonly draining: AbortSignal;
}

/** A verb that a caller asks for. */
export interface AskedVerb {
  readonly verb: string;
  /** JSON text of an object; empty for none. */
  readonly arguments: string;
}

/** Who asks for a verb. */
interface VerbCaller {
  readonly grant: Grant;
  /** Aborts when the caller leaves. */
  readonly left: AbortSignal;
}

/** The answer of a verb as JSON text, or its answers in pages; an empty page is a beat. */
export type VerbAnswer =
  | { readonly text: string }
  | { readonly pages: AsyncGenerator<readonly string[], void, undefined> };

/** Runs verbs: one door for everyone who has no engine. */
export type Door = (asked: AskedVerb, caller: VerbCaller) => Promise<VerbAnswer>;

/** Returns the door. It checks rights, reads the arguments and finds the place; the verb does the rest. */
export function openDoor(parts: DoorParts): Door {
  return async ({ verb, arguments: text }, { grant, left }) => {
    const entry = verbNamed(verb);
    if (entry.isOfAgent !== true) checkUnbound(grant, `run ${verb}`);
    const { namespace: named, ...input } = readArguments(verb, entry, text);
    const namespace = checkId('namespace', typeof named === 'string' ? named : 'default');
    for (const right of rightsOf(entry, input)) checkRight(grant, right, `run ${verb}`);
    checkNamespace(grant, namespace);
    const { requestId, ...asked } = input;
    const run = async (): Promise<VerbAnswer> => {
      const reprise = (entry.isOfAgent === true ? parts.stateOf : parts.repriseOf)(grant, namespace);
      const store: StorePlace = {
        reprise,
        grant,
        sha256: parts.sha256,
        until: (options) => endOf(left, parts.draining, options),
      };
      const locate = (session: string) => (id: string) => parts.locate(grant, { namespace, session }, id);
      return await ranAt(verb, entry, store, locate, entry.knowsRequests === true ? input : asked);
    };
    if (requestId === undefined) return await run();
    const change = { call: verb, requestId: String(requestId), request: { namespace, ...asked } };
    return await parts.done.once(grant, entry.knowsRequests === true ? { ...change, isEvent: true } : change, run);
  };
}

/** Returns the rights that a call takes: a dry run only looks. */
function rightsOf({ rights, takes = {} }: VerbEntry, input: JsonObject): readonly Right[] {
  return Object.hasOwn(takes, 'dryRun') && input['dryRun'] === true ? ['read'] : rights;
}

/** Finds the place of a verb and runs it there. */
async function ranAt(
  verb: string,
  entry: VerbEntry,
  store: StorePlace,
  locate: (session: string) => SessionPlace['locate'],
  input: JsonObject,
): Promise<VerbAnswer> {
  if (entry.at === 'store') return await answered(entry, store, input);
  if (entry.at === 'session') {
    const { session: id, ...rest } = input;
    const session = await store.reprise.session(checkId('session', String(id)));
    return await answered(entry, { ...store, session, locate: locate(session.id) }, rest);
  }
  const { ref: text, ...rest } = input;
  const ref = await store.reprise.resolve(refOf(verb, entry, String(text)));
  const session = await store.reprise.session(ref.session);
  const lookAt = (other: string): Look => {
    const found = parseRef(other);
    if (found.session === ref.session) return session.at(pointText(found));
    throw refused(verb, 'other', 'is of a different session', 'Name a point of the same session.');
  };
  const place: LookPlace = {
    ...store,
    session,
    locate: locate(session.id),
    ref,
    look: session.at(pointText(ref)),
    on: session.branch(ref.branch),
    lookAt,
  };
  return await answered(entry, place, rest);
}

/** Reads the ref of a verb. A verb that writes to a branch takes no point, and one that changes a point names it. */
function refOf(verb: string, { at }: VerbEntry, text: string): Ref {
  if (at === 'branch' && text.includes('@'))
    throw refused(verb, 'ref', 'names a point', 'Name the branch alone, for example "demo/careful".');
  if (at === 'point' && !text.includes('@'))
    throw refused(verb, 'ref', 'names no point', 'Name the point, for example "demo/careful@12".');
  return parseRef(text);
}

async function answered<Place>(
  { one, many }: { readonly one?: unknown; readonly many?: unknown },
  place: Place,
  input: JsonObject,
): Promise<VerbAnswer> {
  type Run<Answer> = (place: Place, input: JsonObject) => Answer;
  if (typeof many === 'function') return { pages: batched((many as Run<AnswerPages>)(place, input), beatMs) };
  return { text: JSON.stringify((await (one as Run<Promise<unknown>>)(place, input)) ?? null) };
}

/** Returns an answer that one message can carry. A change was made when its answer is there, so that is never refused. */
export function inOneMessage({ verb }: AskedVerb, answer: VerbAnswer): string {
  if ('pages' in answer)
    throw new RepriseError('option.invalid', `Cannot call ${verb}: it has many answers`, {
      hint: 'Ask for it with Stream.',
      details: { path: 'verb' },
    });
  const max = limits.verbAnswerBytesMax;
  if (isWriting(verbNamed(verb)) || utf8Length(answer.text) <= max) return answer.text;
  throw new RepriseError('limit.exceeded', `Cannot answer ${verb}: the answer has more than ${max} bytes`, {
    hint: 'Ask for it with Stream, which sends it in pieces.',
    details: { limit: 'verbAnswerBytesMax', max },
  });
}

/** Characters of one piece of an answer. */
const pieceUnits = 262_144;

/** Cuts the text of an answer into pieces. Half of a surrogate pair would be replaced on its way. */
export function* piecesOf(text: string): Generator<string, void, undefined> {
  for (let from = 0; from < text.length; ) {
    const end = Math.min(text.length, from + pieceUnits);
    const code = text.charCodeAt(end - 1);
    const to = end < text.length && code >= 0xd800 && code < 0xdc00 ? end - 1 : end;
    yield text.slice(from, to);
    from = to;
  }
}

/** Returns the name of a verb for the log and the figures; other strings must not fill them. */
export function shownVerb(verb: string): string {
  return isVerb(verb) ? verb : 'unknown verb';
}
