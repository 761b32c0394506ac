import { RepriseError } from '../../core/error.ts';
import { specOf } from '../../core/event/catalogue.ts';
import { editId } from '../../core/event/edit-id.ts';
import { type CarriedEvent, draftKeys, type Event, type EventDraft } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { checkWrite, defaultAgent, stateKey } from '../../core/event/state-key.ts';
import {
  given,
  isObject,
  type JsonInput,
  type JsonObject,
  type JsonValue,
  valueAt,
  withValueAt,
} from '../../core/json.ts';
import { checkKeys, type KnownKeys, shownValue } from '../../core/known-keys.ts';
import { messageKey, toolCallsIn } from '../../core/message/message.ts';
import { type Seq, seq } from '../../core/point.ts';
import { isoTime } from '../../core/time.ts';
import { checkEditFields, type Edit, type Replacement } from '../../core/view/edit.ts';
import { conversation, lastUserMessage } from '../../projections/conversation.ts';
import type { Engine } from '../context/engine.ts';
import { fold } from '../history/fold.ts';
import { causeOf, type DraftCheck, type Hypothesis, type Supposed, supposeAppended } from '../history/hypothesis.ts';
import { listEditsOf } from '../history/list-edits.ts';
import { listPathOf } from '../history/list-reader.ts';
import { eventInView, eventsOfKey, type Sight, sightOf } from '../history/sight.ts';
import type { StampedDraft } from '../history/stamp.ts';
import { revertTargets } from './dependents.ts';
import { type EditedCall, editedCall } from './edited-call.ts';

/** The events that carry edits out, in order, and the seqs that stay although they depend on events that go. */
export interface ResolvedEdits extends Supposed {
  readonly dependents: readonly Seq[];
}

/** The drafts that carry one edit out. */
interface ResolvedEdit {
  readonly drafts: readonly EventDraft[];
  readonly dependents: readonly Seq[];
}

/**
 * Turns edits into the events that carry them out. Each edit is applied to the history as the edits before it left it.
 * With `write`, the last one is checked by the write that follows.
 */
export async function resolveEdits(
  engine: Engine,
  base: Hypothesis,
  edits: readonly Edit[],
  check: DraftCheck = 'encode',
): Promise<ResolvedEdits> {
  const drafts: StampedDraft[] = [];
  const dependents: Seq[] = [];
  const named = editNames(engine);
  let hypothesis = base;
  for (const [index, edit] of edits.entries()) {
    const resolved = await resolveEdit(sightOf(engine, hypothesis), checkEditFields(edit));
    const isLast = index === edits.length - 1;
    const supposed = await supposeAppended(engine, hypothesis, resolved.drafts.map(named), isLast ? check : 'encode');
    hypothesis = supposed.hypothesis;
    drafts.push(...supposed.drafts);
    dependents.push(...resolved.dependents);
  }
  return { hypothesis, drafts, dependents };
}

/** Gives the drafts of one edit ids that say so, in order: redo takes back an edit as a whole. */
function editNames(engine: Engine): (draft: EventDraft) => EventDraft {
  let edit: string | undefined;
  let index = 0;
  return (draft) => {
    edit ??= engine.platform.newId();
    return { ...draft, id: editId({ edit, index: index++ }) };
  };
}

async function resolveEdit(sight: Sight, edit: Edit): Promise<ResolvedEdit> {
  switch (edit.kind) {
    case 'replace':
      checkKeys(edit.event, replacementKeys);
      return only(await replace(sight, await shownEvent(sight, seq(edit.seq)), edit.event));
    case 'insert':
      return only(await insert(sight, seq(edit.after), edit.event));
    case 'drop':
      return drop(sight, seq(edit.seq), edit.cascade === true);
    case 'append':
      return only(checkUnnamed(checkOrdinary(edit.event)));
    case 'prompt':
      return only(await prompt(sight, text(edit.text, 'text'), edit.mode ?? 'anywhere'));
    case 'system':
      return only(settings(edit, { system: text(edit.text, 'text') }));
    case 'model':
      return only(settings(edit, { model: text(edit.model, 'model') }));
    case 'tools':
      return only(
        settings(edit, { tools: Array.isArray(edit.tools) ? edit.tools : refuse('its "tools" is not an array') }),
      );
    case 'toolInput':
      return { drafts: await toolInput(sight, edit.call, edit.input), dependents: [] };
    case 'toolResult':
      return only(await toolResult(sight, edit.call, edit.output, edit.outcome ?? 'ok'));
    case 'message':
      return only(await message(sight, seq(edit.seq), edit.message));
    case 'state':
      return only(await state(sight, edit));
    case 'belief':
      return only(await belief(sight, edit));
    default:
      return refuse(`${shownValue((edit as { kind?: unknown }).kind)} is not a kind of edit`);
  }
}

const settings = ({ agent }: { readonly agent?: string }, data: JsonInput): EventDraft => ({
  type: 'settings.changed',
  ...given({ agent }),
  data,
});

const only = (draft: EventDraft): ResolvedEdit => ({ drafts: [draft], dependents: [] });

function refuse(why: string, hint?: string): never {
  throw new RepriseError('edit.invalid', `Cannot apply the edit: ${why}`, given({ hint }));
}

/** Refuses a missing text: it would be stored as nothing and look as if the edit had been made. */
function text(value: string, name: string): string {
  return typeof value === 'string' ? value : refuse(`its "${name}" is not a string`);
}

function checkOrdinary(draft: EventDraft): EventDraft {
  if (isStructural(draft.type))
    refuse(`"${draft.type}" is a structural event`, 'Use the edit, rewind or revert that writes it.');
  return draft;
}

/** Refuses an id: the id of an event that an edit appends says which edit that was. */
function checkUnnamed(draft: EventDraft): EventDraft {
  if (draft.id !== undefined)
    refuse('its event has an "id", which an edit gives itself', 'Leave the id out, or append the event with append().');
  return draft;
}

/** A replacement is often made from an event as it was read, so the fields that the store assigned are allowed. */
const replacementKeys: KnownKeys = {
  ...draftKeys,
  keys: new Set([
    ...draftKeys.keys,
    'session',
    'branch',
    'seq',
    'causeSeq',
    'digest',
    'erased',
    'replaces',
    'replacedIds',
  ]),
  attempt: 'replace an event',
  whole: 'an event',
};

/** An event as the view shows it, and the seq it was asked for under, which may be that of an event it replaced. */
interface Shown {
  readonly target: Seq;
  readonly before: Event;
}

async function replace(sight: Sight, { target, before }: Shown, event: Replacement): Promise<EventDraft> {
  const type = event.type ?? before.type;
  checkOrdinary({ type });
  const carried: CarriedEvent = {
    type,
    version: event.version ?? (type === before.type ? before.version : (specOf(type)?.version ?? 1)),
    time: event.time === undefined ? before.time : isoTime(event.time),
    ...given({ agent: event.agent ?? before.agent, run: event.run ?? before.run }),
    turn: event.turn ?? before.turn,
    ...given({ cause: event.cause ?? before.cause }),
    data: (event.data as JsonObject | undefined) ?? before.data,
  };
  await checkCause(sight, event.cause);
  return { type: 'event.replaced', data: { seq: target, event: carried as unknown as JsonValue } };
}

/** Reads an event as the view shows it, so that a replacement made from it keeps earlier edits of its list. */
async function shownEvent(sight: Sight, target: Seq): Promise<Shown> {
  const event = await eventInView(sight, target);
  const listEdits = listPathOf(event.type) !== undefined ? await listEditsOf(sight) : undefined;
  return { target, before: listEdits === undefined ? event : await eventInView(sight, target, listEdits) };
}

async function checkCause({ engine, hypothesis }: Sight, cause: string | undefined): Promise<void> {
  if (cause !== undefined) await causeOf(engine, hypothesis, 'an edit', cause);
}

async function insert(sight: Sight, after: Seq, draft: EventDraft): Promise<EventDraft> {
  checkOrdinary(draft);
  checkKeys(draft, draftKeys);
  const behind = after === 0 ? undefined : await eventInView(sight, after);
  const carried: CarriedEvent = {
    type: draft.type,
    version: draft.version ?? specOf(draft.type)?.version ?? 1,
    time: draft.time === undefined ? sight.engine.platform.now() : isoTime(draft.time),
    ...given({ agent: draft.agent, run: draft.run }),
    turn: draft.turn ?? behind?.turn ?? 0,
    ...given({ cause: draft.cause }),
    data: (draft.data ?? {}) as JsonObject,
  };
  await checkCause(sight, draft.cause);
  return { type: 'event.inserted', data: { after, event: carried as unknown as JsonValue } };
}

async function drop(sight: Sight, target: Seq, cascade: boolean): Promise<ResolvedEdit> {
  const { seqs, dependents } = await revertTargets(sight, target, cascade);
  return { drafts: [{ type: 'event.reverted', data: { target, seqs } }], dependents };
}

/** Replaces the last user message, which is a separate event or an item of a call's list. */
async function prompt(sight: Sight, text: string, mode: 'anywhere' | 'trailing'): Promise<EventDraft> {
  const seen = await fold(sight, conversation);
  const found = lastUserMessage(seen);
  if (found === undefined || (mode === 'trailing' && !found.isLast)) {
    return refuse(
      found === undefined ? 'there is no user message before the point' : 'the last message is not a user message',
      'Insert a message.added event instead.',
    );
  }
  return message(sight, found.seq, { role: 'user', content: text }, found.message);
}

/**
 * Replaces a message: in the event that added it, in the answer of a model call, or in the first list that contains it,
 * which is that of a call or of the start of a run.
 */
async function message(sight: Sight, target: Seq, next: JsonObject, held?: JsonObject): Promise<EventDraft> {
  if (!isObject(next)) refuse('its "message" is not an object');
  const shown = await shownEvent(sight, target);
  const event = shown.before;
  const isMessage =
    event.type === 'message.added' || (event.type === 'call.ended' && event.data['message'] !== undefined);
  if (isMessage) return replace(sight, shown, { data: { ...event.data, message: next } });
  const path = listPathOf(event.type);
  const list = path === undefined ? undefined : valueAt(event.data, path);
  if (path === undefined || !Array.isArray(list))
    return refuse(`seq ${target} is "${event.type}", which has no message`);
  const index =
    held === undefined
      ? list.findLastIndex((item: JsonValue) => isObject(item) && item['role'] === next['role'])
      : list.findLastIndex((item: JsonValue) => isObject(item) && messageKey(item) === messageKey(held));
  if (index < 0) return refuse(`seq ${target} has no such message`);
  const messages = list.map((item: JsonValue, at: number) => (at === index ? next : item));
  return replace(sight, shown, { data: withValueAt(event.data, path, messages) });
}

/** Finds the call that an edit names; refuses one that the view does not have. */
async function callAt(sight: Sight, call: string | number): Promise<EditedCall> {
  return (await editedCall(sight, call)) ?? refuseCall(call);
}

function refuseCall(call: string | number): never {
  return refuse(
    `there is no call ${JSON.stringify(call)} in the view`,
    'Name a call by its id or by the seq of its start or end.',
  );
}

/**
 * Changes the input of a tool call, and the message in which the model asked for it: the model reads that message
 * again.
 */
async function toolInput(sight: Sight, call: string | number, input: JsonValue): Promise<readonly EventDraft[]> {
  if (input === undefined) refuse('its "input" is missing', 'Pass null if there is none.');
  const { id, started, ended, asked } = await callAt(sight, call);
  if (started === undefined && ended !== undefined)
    refuse(`the start of call ${JSON.stringify(call)} is not in the view`);
  const drafts: EventDraft[] = [];
  if (started !== undefined) {
    const shown = await shownEvent(sight, started.seq);
    drafts.push(await replace(sight, shown, { data: { ...shown.before.data, input } }));
  }
  if (asked !== undefined)
    drafts.push(await message(sight, asked.seq, withInput(asked.message, id, input), asked.message));
  return drafts;
}

function withInput(held: JsonObject, id: string, input: JsonValue): JsonObject {
  const parts = held['content'] as readonly JsonObject[];
  const isIt = (part: JsonObject): boolean => part['type'] === 'tool-call' && part['toolCallId'] === id;
  return { ...held, content: parts.map((part) => (isIt(part) ? { ...part, input } : part)) };
}

/** Answers a pending call, whether or not it was started, or replaces the answer of an ended one. */
async function toolResult(
  sight: Sight,
  call: string | number,
  output: JsonValue,
  outcome: string,
): Promise<EventDraft> {
  if (output === undefined) refuse('its "output" is missing', 'Pass null if there is none.');
  const { id, started, ended, asked } = await callAt(sight, call);
  if ((ended ?? started)?.data['kind'] === 'model')
    refuse(
      `call ${JSON.stringify(call)} asked a model, whose answer is a message`,
      'Edit its message instead: { kind: "message", seq, message }, on the command line --message SEQ=FILE.',
    );
  if (ended !== undefined) {
    // The error of the old answer does not belong to the new one.
    const { error, ...rest } = ended.data;
    const kept = outcome === 'ok' || error === undefined ? rest : { ...rest, error };
    return replace(sight, { target: ended.seq, before: ended }, { data: { ...kept, output, outcome } });
  }
  const cause = started ?? (asked === undefined ? refuseCall(call) : await eventInView(sight, asked.seq));
  const part = toolCallsIn(asked?.message ?? null).find(({ toolCallId }) => toolCallId === id);
  const { kind = 'tool', name = part?.toolName } = (started?.data ?? {}) as { readonly [key: string]: string };
  const data = { call: id, kind, name: String(name), outcome, output };
  return {
    type: 'call.ended',
    cause: cause.id,
    ...given({ agent: cause.agent, run: cause.run }),
    data,
  };
}

/** Writes a state key with the next version in the view. An erased commit has lost its number, but counts as one. */
async function state(sight: Sight, edit: Extract<Edit, { kind: 'state' }>): Promise<EventDraft> {
  const { agent = defaultAgent } = edit;
  const key = text(edit.key, 'key');
  checkWrite({ agent, key }, edit.value ?? null);
  let version = 1;
  for await (const event of eventsOfKey(sight, stateKey(agent, key))) {
    if (event.erased === true) version += 1;
    else {
      version += versionIn(event, agent, key);
      break;
    }
  }
  const operation =
    edit.value === undefined
      ? { agent, key, op: 'delete', version }
      : { agent, key, op: 'write', value: edit.value, version };
  return { type: 'state.committed', agent, data: { operations: [operation] } };
}

/** Returns the last version that a transaction gave to a key. */
function versionIn(event: Event, agent: string, key: string): number {
  const operations = (event.data['operations'] ?? []) as readonly JsonObject[];
  const versions = operations
    .filter((operation) => operation['agent'] === agent && operation['key'] === key)
    .map((operation) => Number(operation['version']));
  return Math.max(0, ...versions);
}

async function belief(sight: Sight, edit: Extract<Edit, { kind: 'belief' }>): Promise<EventDraft> {
  if (edit.seq !== undefined)
    return replace(sight, await shownEvent(sight, seq(edit.seq)), {
      data: edit.belief,
      ...given({ agent: edit.agent }),
    });
  return { type: 'belief.committed', data: edit.belief, ...given({ agent: edit.agent }) };
}
