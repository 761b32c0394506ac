import { canonicalJson } from '../../core/canonical-json.ts';
import { diffValues, type ValueDiff } from '../../core/comparing/value-diff.ts';
import { halfOf, startHalf, startOf } from '../../core/event/call-halves.ts';
import type { Event } from '../../core/event/event.ts';
import { project } from '../../core/event/projection.ts';
import { isObject, type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { type Point, previous, type Seq } from '../../core/point.ts';
import { refText } from '../../core/ref.ts';
import type { LaneConversation } from '../../core/session/conversation-lane.ts';
import type { ReplayOptions } from '../../core/session/session-log.ts';
import type { Edit } from '../../core/view/edit.ts';
import type { Look } from '../../engine/look.ts';
import type { Session } from '../../engine/session.ts';
import { type Conversation, conversation } from '../../projections/conversation.ts';
import { eventHere } from '../answers/show-answer.ts';
import { type ContextMark, type ContextMessage, type ContextTool, markMessages, markTools } from './context-marks.ts';

/** A string or value of a request, and what it was in the one before. */
interface ContextSetting<Value> {
  readonly value: Value | null;
  readonly was: Value | null;
  readonly mark: ContextMark;
}

/** The model call that a context is that of. */
interface ContextCall {
  readonly seq: Seq;
  /** Null while it has not ended. */
  readonly endSeq: Seq | null;
  readonly call: string;
  readonly name: string;
  /** The data of its end without the raw body: message, outcome, usage and so on; null while it has not ended. */
  readonly end: JsonObject | null;
}

/** Everything that a model was sent at a point, and what of it was new. */
export interface ContextAnswer {
  readonly ref: string;
  readonly agent: string | null;
  readonly run: string | null;
  /** The model call; null if the point is between calls, and this is what the next one would be sent. */
  readonly call: ContextCall | null;
  /** The point it is compared with; null if the lane has no call before. */
  readonly against: { readonly ref: string; readonly kind: 'call' | 'point' | 'unedited' } | null;
  /** How many messages there are in all. */
  readonly total: number;
  readonly counts: Readonly<Record<ContextMark, number>>;
  /** The messages that were asked for: the new and edited ones, or a stretch. */
  readonly messages: readonly ContextMessage[];
  /** Those of the one before that are not there any more. */
  readonly dropped: readonly ContextMessage[];
  readonly model: ContextSetting<string>;
  readonly system: ContextSetting<string>;
  readonly tools: readonly ContextTool[];
  readonly settings: ContextSetting<JsonObject> & { readonly diff: ValueDiff };
  /** The lengths of its parts as JSON text, in characters. */
  readonly sizes: ContextSizes;
}

/** The lengths of the parts of a request as JSON text, in characters. */
interface ContextSizes {
  readonly system: number;
  readonly tools: number;
  readonly user: number;
  readonly assistant: number;
  readonly results: number;
  readonly other: number;
}

/** Which context to read, and which of its messages to return in full. */
export interface ContextReading {
  readonly branch: string;
  readonly seq: Seq;
  /** A point to compare with; the call before in the lane if left out. */
  readonly against?: string;
  /** Looks as if these edits were made at the point. */
  readonly edits?: readonly Edit[];
  /** Returns this stretch of messages instead of the new ones. */
  readonly offset?: number;
  readonly limit?: number;
}

/** Reads what a model was sent at a point, or between calls what the next one would be sent, and compares it. */
export async function contextAt(session: Session, reading: ContextReading): Promise<ContextAnswer> {
  const { branch, seq, edits = [] } = reading;
  const { event } = await session.at({ branch, seq }).fold(eventHere);
  const call = edits.length > 0 ? null : await callOf(session, branch, event);
  const at = call?.seq ?? seq;
  const whole = await session.at({ branch, seq: at }).fold(conversation, edits.length === 0 ? {} : { edits });
  const here = laneOf(whole, call === null ? event : { agent: event?.agent, run: event?.run });
  const alone = call === null || here.calledAt === at ? undefined : await askedInside(session, { branch, seq: at });
  const lane = alone ?? here;
  const isCompared = alone === undefined || reading.against !== undefined;
  const before = isCompared ? await comparedWith(session, reading, { at, lane, isCall: call !== null }) : undefined;
  return {
    ref: refText({ session: session.id, branch, at: { kind: 'seq', seq } }),
    agent: lane.agent,
    run: lane.run,
    call,
    against: before?.against ?? null,
    ...compareLanes(lane, before?.lane, reading),
  };
}

/** Returns what a call was sent that a tool made on its own: it is outside of the conversation. */
async function askedInside(session: Session, at: Point): Promise<LaneConversation | undefined> {
  for await (const event of session.at(at).replay({ after: previous(at.seq) }))
    if (event.erased !== true) return project(conversation, [event]);
  return undefined;
}

/** Finds the model call that an event begins or ends. */
async function callOf(session: Session, branch: string, event: Event | undefined): Promise<ContextCall | null> {
  if (event === undefined || event.data['kind'] !== 'model') return null;
  if (event.type === 'call.ended') {
    const began = event.causeSeq ?? (await startBefore(session, branch, event));
    return began === undefined ? null : { ...named(event), seq: began, endSeq: event.seq, end: endOf(event) };
  }
  if (event.type !== 'call.started') return null;
  const ended = await endAfter(session, branch, event);
  return {
    ...named(event),
    seq: event.seq,
    endSeq: ended?.seq ?? null,
    end: ended === undefined ? null : endOf(ended),
  };
}

const named = ({ data }: Event): Pick<ContextCall, 'call' | 'name'> => ({
  call: stringAt(data, 'call') ?? '',
  name: stringAt(data, 'name') ?? '',
});

/** Ends of other calls that are looked through for that of one: calls made at the same time may have ended first. */
const besideMax = 1_000;

async function startBefore(session: Session, branch: string, end: Event): Promise<Seq | undefined> {
  const around = { direction: 'backward', filter: { types: ['call.started'] } } as const;
  return (await nearest(session.at({ branch, seq: end.seq }), around, (start) => isOneCall(start, end)))?.seq;
}

function endAfter(session: Session, branch: string, start: Event): Promise<Event | undefined> {
  const around = { after: start.seq, filter: { types: ['call.ended'] } };
  return nearest(session.branch(branch), around, (end) => isOneCall(start, end));
}

/** Returns true if a start and an end are the halves of one call: other agents may use its id. */
const isOneCall = (start: Event, end: Event): boolean => startOf(halfOf(end), [startHalf(start)]) !== undefined;

/** Finds the next event that is of the call. */
async function nearest(
  within: Look,
  around: ReplayOptions,
  isIt: (event: Event) => boolean,
): Promise<Event | undefined> {
  for await (const event of within.replay({ ...around, history: 'raw', limit: besideMax }))
    if (isIt(event)) return event;
  return undefined;
}

function endOf({ data }: Event): JsonObject {
  const { response: _response, ...end } = data as JsonObject & { readonly response?: JsonValue };
  return end;
}

/** Finds the conversation of an agent and run; the one that was last active if the event names none. */
function laneOf(
  { lanes, ...current }: Conversation,
  who: { readonly agent?: string | undefined; readonly run?: string | undefined } | undefined,
): LaneConversation {
  const own = lanes.filter((lane) => lane.agent === (who?.agent ?? null));
  if (who?.agent === undefined && who?.run === undefined) return current;
  return own.find((lane) => lane.run === (who?.run ?? null)) ?? own[0] ?? current;
}

interface Before {
  readonly lane: LaneConversation;
  readonly against: NonNullable<ContextAnswer['against']>;
}

/** Reads what a context is compared with: a chosen point, the same point without the edits, or the call before. */
async function comparedWith(
  session: Session,
  { branch, seq, against, edits = [] }: ContextReading,
  { at, lane, isCall }: { readonly at: Seq; readonly lane: LaneConversation; readonly isCall: boolean },
): Promise<Before | undefined> {
  const named = (point: Seq): string => refText({ session: session.id, branch, at: { kind: 'seq', seq: point } });
  if (against !== undefined) {
    const found = await session.at(against).locate();
    const held = await session.at(against).fold(conversation);
    const ref = refText({ session: session.id, branch: found.branch, at: { kind: 'seq', seq: found.seq } });
    return { lane: sameLane(held, lane), against: { ref, kind: 'point' } };
  }
  if (edits.length > 0)
    return {
      lane: sameLane(await session.at({ branch, seq }).fold(conversation), lane),
      against: { ref: named(seq), kind: 'unedited' },
    };
  const before = isCall
    ? sameLane(await session.at({ branch, seq: previous(at) }).fold(conversation), lane).calledAt
    : lane.calledAt;
  if (before === null) return undefined;
  return {
    lane: sameLane(await session.at({ branch, seq: before }).fold(conversation), lane),
    against: { ref: named(before), kind: 'call' },
  };
}

/** Finds the same lane at a different point; an empty one if it had not begun there. */
function sameLane({ lanes, ...current }: Conversation, lane: LaneConversation): LaneConversation {
  if (lanes.length === 0 && current.agent === lane.agent) return current;
  const own = lanes.filter(({ agent }) => agent === lane.agent);
  const found = own.find(({ run }) => run === lane.run) ?? own[0];
  const empty = { messages: [], model: null, system: null, tools: null, settings: null, openCalls: [], calledAt: null };
  return found ?? { ...lane, ...empty, erased: 0 };
}

type Compared = Omit<ContextAnswer, 'ref' | 'agent' | 'run' | 'call' | 'against'>;

function compareLanes(
  lane: LaneConversation,
  before: LaneConversation | undefined,
  { offset, limit }: Pick<ContextReading, 'offset' | 'limit'>,
): Compared {
  const { messages, dropped } = markMessages(lane.messages, before?.messages ?? []);
  const counts = { same: 0, new: 0, edited: 0, erased: 0, dropped: dropped.length };
  for (const { mark } of messages) counts[mark]++;
  const isWindow = (offset ?? 0) > 0 || (limit ?? 0) > 0;
  const most = Math.min(limit === undefined || limit === 0 ? limits.shownRowsMax : limit, limits.shownRowsMax);
  const chosen = isWindow
    ? messages.slice(offset ?? 0, (offset ?? 0) + most)
    : messages.filter(({ mark }) => mark !== 'same').slice(-most);
  return {
    total: messages.length,
    counts,
    messages: chosen,
    dropped: dropped.slice(0, limits.shownRowsMax),
    model: setting(lane.model, before?.model),
    system: setting(lane.system, before?.system),
    tools: markTools(lane.tools ?? [], before?.tools ?? []),
    settings: {
      ...setting(lane.settings, before?.settings),
      diff: diffValues(before?.settings ?? null, lane.settings),
    },
    sizes: sizesOf(lane, messages),
  };
}

function setting<Value extends JsonValue>(value: Value | null, was: Value | null | undefined): ContextSetting<Value> {
  const isSame = was !== undefined && canonicalJson(value) === canonicalJson(was);
  const mark = isSame ? 'same' : was === undefined || was === null ? 'new' : value === null ? 'dropped' : 'edited';
  return { value, was: was ?? null, mark };
}

function sizesOf({ system, tools }: LaneConversation, messages: readonly ContextMessage[]): ContextSizes {
  const sizes = { user: 0, assistant: 0, results: 0, other: 0 };
  const names: Readonly<Record<string, keyof typeof sizes>> = { user: 'user', assistant: 'assistant', tool: 'results' };
  let leading = 0;
  for (const { message, role, size } of messages) {
    if (!isObject(message)) continue;
    if (role === 'system') leading += size;
    else sizes[Object.hasOwn(names, role) ? (names[role] ?? 'other') : 'other'] += size;
  }
  return {
    ...sizes,
    system: leading + (system?.length ?? 0),
    tools: tools === null ? 0 : canonicalJson(tools).length,
  };
}
