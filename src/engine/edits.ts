import { canonicalJson, sameJson } from '../core/canonical-json.ts';
import type { Edit, Replacement } from '../core/edit.ts';
import { RepriseError } from '../core/error.ts';
import type { CarriedEvent, Event, EventDraft } from '../core/event.ts';
import { specOf } from '../core/event-types.ts';
import { isObject, type JsonObject, type JsonValue, valueAt, withValueAt } from '../core/json.ts';
import { ownedKey, plainKey } from '../core/keys.ts';
import { type Seq, seq } from '../core/point.ts';
import { segmentsOf } from '../core/segment.ts';
import { isStructural } from '../core/structural-types.ts';
import { type View, viewAt } from '../core/view.ts';
import { conversation, lastUserMessage } from '../projections/conversation.ts';
import { eventInView, whatGoes } from './dependents.ts';
import { type Engine, sessionRef } from './engine.ts';
import { dataOf, decoderFor, toEvent, unwrap } from './events.ts';
import type { Place } from './place.ts';
import { foldAt } from './state-at.ts';

/** What edits become: events to append, in order, and what they leave in place although it depends on what goes. */
export interface ResolvedEdits {
  readonly drafts: readonly EventDraft[];
  readonly dependents: readonly Seq[];
}

interface Editing {
  readonly engine: Engine;
  readonly place: Place;
  readonly view: View;
}

/** Turns edits into the events that carry them out at a place. */
export async function resolveEdits(engine: Engine, place: Place, edits: readonly Edit[]): Promise<ResolvedEdits> {
  const editing: Editing = { engine, place, view: viewAt(place.history, place.seq) };
  const drafts: EventDraft[] = [];
  const dependents: Seq[] = [];
  for (const edit of edits) {
    const resolved = await resolveEdit(editing, edit);
    drafts.push(...resolved.drafts);
    dependents.push(...resolved.dependents);
  }
  return { drafts, dependents };
}

async function resolveEdit(editing: Editing, edit: Edit): Promise<ResolvedEdits> {
  switch (edit.kind) {
    case 'replace':
      return only(await replace(editing, seq(edit.seq), edit.event));
    case 'insert':
      return only(await insert(editing, seq(edit.after), edit.event));
    case 'drop':
      return drop(editing, seq(edit.seq), edit.cascade === true);
    case 'append':
      return only(checkOrdinary(edit.event));
    case 'prompt':
      return only(await prompt(editing, edit.text, edit.mode ?? 'anywhere'));
    case 'system':
      return only({ type: 'settings.changed', data: { system: edit.text } });
    case 'model':
      return only({ type: 'settings.changed', data: { model: edit.model } });
    case 'tools':
      return only({ type: 'settings.changed', data: { tools: edit.tools } });
    case 'toolInput':
      return only(await toolInput(editing, edit.call, edit.input));
    case 'toolResult':
      return only(await toolResult(editing, edit.call, edit.output, edit.outcome ?? 'ok'));
    case 'message':
      return only(await message(editing, seq(edit.seq), edit.message));
    case 'state':
      return only(await state(editing, edit));
    case 'belief':
      return only(await belief(editing, edit));
    default:
      return refuse(`"${String((edit as { kind?: unknown }).kind)}" is not a kind of edit`);
  }
}

const only = (draft: EventDraft): ResolvedEdits => ({ drafts: [draft], dependents: [] });

function refuse(why: string, hint?: string): never {
  throw new RepriseError('edit.invalid', `Cannot apply the edit: ${why}`, hint === undefined ? {} : { hint });
}

function checkOrdinary(draft: EventDraft): EventDraft {
  if (isStructural(draft.type))
    refuse(`"${draft.type}" is a structural event`, 'Use the edit, rewind or revert that writes it.');
  return draft;
}

async function replace({ engine, place, view }: Editing, target: Seq, event: Replacement): Promise<EventDraft> {
  const before = await eventInView(engine, place, view, target);
  const type = event.type ?? before.type;
  checkOrdinary({ type });
  const carried: CarriedEvent = {
    type,
    version: event.version ?? (type === before.type ? before.version : (specOf(type)?.version ?? 1)),
    time: event.time ?? before.time,
    ...optional('agent', event.agent ?? before.agent),
    ...optional('run', event.run ?? before.run),
    turn: event.turn ?? before.turn,
    ...optional('cause', event.cause ?? before.cause),
    data: (event.data as JsonObject | undefined) ?? before.data,
  };
  return { type: 'event.replaced', data: { seq: target, event: carried as unknown as JsonValue } };
}

async function insert({ engine, place, view }: Editing, after: Seq, draft: EventDraft): Promise<EventDraft> {
  checkOrdinary(draft);
  const turn = draft.turn ?? (after === 0 ? 0 : (await eventInView(engine, place, view, after)).turn);
  const carried: CarriedEvent = {
    type: draft.type,
    version: draft.version ?? specOf(draft.type)?.version ?? 1,
    time: draft.time ?? engine.platform.now(),
    ...optional('agent', draft.agent),
    ...optional('run', draft.run),
    turn,
    ...optional('cause', draft.cause),
    data: (draft.data ?? {}) as JsonObject,
  };
  return { type: 'event.inserted', data: { after, event: carried as unknown as JsonValue } };
}

function optional<K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, string>);
}

async function drop({ engine, place }: Editing, target: Seq, cascade: boolean): Promise<ResolvedEdits> {
  const { seqs, dependents } = await whatGoes(engine, place, target, cascade);
  return { drafts: [{ type: 'event.reverted', data: { target, seqs } }], dependents };
}

/** The last user message is wherever the conversation has it: an event of its own, or an item of a call's list. */
async function prompt(editing: Editing, text: string, mode: 'anywhere' | 'trailing'): Promise<EventDraft> {
  const { engine, place } = editing;
  const seen = await foldAt(engine, place, conversation);
  const found = lastUserMessage(seen);
  if (found === undefined || (mode === 'trailing' && !found.isLast)) {
    return refuse(
      found === undefined ? 'there is no user message before the point' : 'the last message is not a user message',
      'Insert a message.added event instead.',
    );
  }
  return message(editing, found.seq, { role: 'user', content: text }, found.message);
}

/** Replaces a message: the event that added it, the answer that was it, or the first call whose list holds it. */
async function message(editing: Editing, target: Seq, next: JsonObject, held?: JsonObject): Promise<EventDraft> {
  const event = await eventInView(editing.engine, editing.place, editing.view, target);
  if (event.type === 'message.added') return replace(editing, target, { data: { ...event.data, message: next } });
  if (event.type === 'call.ended' && event.data['message'] !== undefined)
    return replace(editing, target, { data: { ...event.data, message: next } });
  const list = valueAt(event.data, ['request', 'messages']);
  if (event.type !== 'call.started' || !Array.isArray(list))
    return refuse(`seq ${target} is "${event.type}", which holds no message`);
  const index =
    held === undefined
      ? list.findLastIndex((item: JsonValue) => isObject(item) && item['role'] === next['role'])
      : list.findLastIndex((item: JsonValue) => sameJson(item, held));
  if (index < 0) return refuse(`seq ${target} holds no such message`);
  const messages = list.map((item: JsonValue, at: number) => (at === index ? next : item));
  return replace(editing, target, { data: withValueAt(event.data, ['request', 'messages'], messages) });
}

/** The start and, if it has ended, the end of a call in the view. */
async function callAt(
  { engine, place, view }: Editing,
  call: string | number,
): Promise<{ readonly started: Event | undefined; readonly ended: Event | undefined }> {
  const id = typeof call === 'number' ? (await eventInView(engine, place, view, seq(call))).data['call'] : call;
  const halves: Event[] = [];
  let segments = segmentsOf(view);
  while (typeof id === 'string') {
    const { entries } = await engine.store.latest(
      sessionRef(engine, place.session),
      segments,
      { keys: [plainKey('call', id)] },
      { limit: 1, select: 'full' },
    );
    const row = entries[0]?.event;
    if (row === undefined) break;
    const event = toEvent(place.session, row, dataOf(row, await decoderFor(engine, place.session, [row])));
    halves.push(isStructural(event.type) ? unwrap(event) : event);
    segments = segments
      .map((held) => ({ ...held, through: Math.min(held.through, row.seq - 1) as Seq }))
      .filter((held) => held.through > held.after);
  }
  const started = halves.find((event) => event.type === 'call.started');
  const ended = halves.find((event) => event.type === 'call.ended');
  if (started === undefined && ended === undefined)
    refuse(
      `there is no call ${JSON.stringify(call)} in the view`,
      'Name a call by its id or by the seq of its start or end.',
    );
  return { started, ended };
}

async function toolInput(editing: Editing, call: string | number, input: JsonValue): Promise<EventDraft> {
  const { started } = await callAt(editing, call);
  if (started === undefined) return refuse(`the start of call ${JSON.stringify(call)} is not in the view`);
  return replace(editing, started.seq, { data: { ...started.data, input } });
}

/** A pending call is answered; an answered one gets another answer. */
async function toolResult(
  editing: Editing,
  call: string | number,
  output: JsonValue,
  outcome: string,
): Promise<EventDraft> {
  const { started, ended } = await callAt(editing, call);
  if (ended !== undefined) return replace(editing, ended.seq, { data: { ...ended.data, output, outcome } });
  const open = started as Event;
  const data = {
    call: open.data['call'] as string,
    kind: open.data['kind'] as string,
    name: open.data['name'] as string,
    outcome,
    output,
  };
  return { type: 'call.ended', cause: open.id, ...optional('agent', open.agent), ...optional('run', open.run), data };
}

/** State versions are stored: the next one is the view's latest + 1. */
async function state({ engine, place, view }: Editing, edit: Extract<Edit, { kind: 'state' }>): Promise<EventDraft> {
  const agent = edit.agent ?? 'default';
  const key = ownedKey('state', agent, edit.key);
  const { entries } = await engine.store.latest(
    sessionRef(engine, place.session),
    segmentsOf(view),
    { keys: [key] },
    { limit: 1, select: 'full' },
  );
  const row = entries[0]?.event;
  const held =
    row === undefined
      ? undefined
      : toEvent(place.session, row, dataOf(row, await decoderFor(engine, place.session, [row])));
  const operations = (
    held === undefined ? [] : ((isStructural(held.type) ? unwrap(held) : held).data['operations'] ?? [])
  ) as readonly JsonObject[];
  const version =
    Math.max(
      0,
      ...operations
        .filter((operation) => operation['agent'] === agent && operation['key'] === edit.key)
        .map((operation) => Number(operation['version'])),
    ) + 1;
  const operation =
    edit.value === undefined
      ? { agent, key: edit.key, op: 'delete', version }
      : { agent, key: edit.key, op: 'write', value: edit.value, version };
  canonicalJson(operation);
  return { type: 'state.committed', agent, data: { operations: [operation] } };
}

async function belief(editing: Editing, edit: Extract<Edit, { kind: 'belief' }>): Promise<EventDraft> {
  if (edit.seq !== undefined)
    return replace(editing, seq(edit.seq), { data: edit.belief, ...optional('agent', edit.agent) });
  return { type: 'belief.committed', data: edit.belief, ...optional('agent', edit.agent) };
}
