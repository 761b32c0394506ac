import { halfOf, noteStart, type OpenStarts, type StartHalf, startHalf, takeStart } from '../core/event/call-halves.ts';
import { specOf } from '../core/event/catalogue.ts';
import type { Event } from '../core/event/event.ts';
import { isStructural } from '../core/event/families/structural.ts';
import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../core/json.ts';
import { chunkEvents, columnFlags, type EventColumns } from '../core/session/event-columns.ts';

type Writable = {
  -readonly [Key in keyof EventColumns]: EventColumns[Key] extends readonly (infer Item)[] ? Item[] : EventColumns[Key];
};

/** The value that `eventIndex` folds. */
export interface EventIndexState extends Writable {
  last: { readonly time: number; readonly turn: number; readonly type: string; readonly agent: string };
  /** The calls that have not ended, with the seqs of their starts. */
  open: OpenStarts<StartHalf & { readonly seq: number }>;
}

/**
 * The index of a history: its events in columns, without their payloads. It begins anew after each 4,096 events, so that
 * each part is folded on its own; the whole is the values at 4096, 8192 and so on, and at the head.
 */
export const eventIndex: Projection<EventIndexState, EventColumns> = shippedProjection({
  name: 'index',
  version: '1',
  history: 'raw',
  window: chunkEvents,
  without: ['request', 'response', 'input', 'output', 'result', 'messages', 'content', 'values', 'state', 'items'],
  initial: noColumns,
  apply: (value, event) => {
    const state = (event.seq - 1) % chunkEvents === 0 ? noColumns() : value;
    addEvent(state, event);
    return state;
  },
  finish: ({ last: _last, open: _open, ...columns }) => columns,
});

function noColumns(): EventIndexState {
  const columns = { time: [], type: [], agent: [], run: [], turn: [], cause: [], flags: [] };
  const some = { name: [], kind: [], effect: [], outcome: [], began: [], latency: [] };
  const spent = { firstToken: [], inputTokens: [], outputTokens: [], cachedTokens: [], cost: [] };
  const last = { time: 0, turn: 0, type: '', agent: '' };
  return { first: 0, startedAt: 0, texts: [''], ...columns, ...some, ...spent, last, open: {} };
}

/** The positions of strings in a dictionary; made again from the dictionary when a fold continues from a snapshot. */
const positions = new WeakMap<readonly string[], Map<string, number>>();

function positionOf(texts: string[], text: string): number {
  let known = positions.get(texts);
  if (known === undefined) {
    known = new Map(texts.map((held, index) => [held, index]));
    positions.set(texts, known);
  }
  const found = known.get(text);
  if (found !== undefined) return found;
  known.set(text, texts.length);
  texts.push(text);
  return texts.length - 1;
}

function addEvent(state: EventIndexState, event: Event): void {
  const { seq, type, agent = '', run = '', turn, causeSeq } = event;
  const time = Date.parse(event.time);
  const text = (held: string): number => positionOf(state.texts, held);
  if (state.first === 0) {
    state.first = seq;
    state.startedAt = time;
    state.last = { ...state.last, time };
  }
  state.time.push(time - state.last.time);
  state.type.push(text(type));
  state.agent.push(text(agent));
  state.run.push(text(run));
  state.turn.push(turn - state.last.turn);
  state.cause.push(causeSeq === undefined ? 0 : seq - causeSeq);
  state.flags.push(addFacts(state, event, text));
  state.last = { time, turn, type, agent };
}

/** Adds the facts that only some events have, and returns the flags that tell which. */
function addFacts(state: EventIndexState, event: Event, text: (held: string) => number): number {
  const { type, data } = event;
  let flags = event.erased === true ? columnFlags.erased : 0;
  const name = nameOf(event);
  if (name !== '') {
    flags |= columnFlags.named;
    state.name.push(text(name.slice(0, nameMax)));
  }
  if (type === 'call.started' || type === 'call.ended') flags |= addCall(state, event, text);
  const outcome = stringAt(data, 'outcome');
  if (outcome !== undefined) {
    flags |= columnFlags.outcome;
    state.outcome.push(text(outcome.slice(0, nameMax)));
  }
  if (hasFailed(event)) flags |= columnFlags.error;
  if (isStructural(type)) flags |= columnFlags.marker;
  if (type === 'run.started' && isObject(data['resumed'])) flags |= columnFlags.resumed;
  if (isNoise(state, event)) flags |= columnFlags.noise;
  return flags;
}

/** The characters of a name that are kept. */
const nameMax = 100;

function addCall(state: EventIndexState, event: Event, text: (held: string) => number): number {
  const { seq, type, data, causeSeq } = event;
  const { call, end, reused, simulated } = columnFlags;
  state.kind.push(text((stringAt(data, 'kind') ?? '').slice(0, nameMax)));
  if (type === 'call.started') {
    state.effect.push(text((stringAt(data, 'effect') ?? '').slice(0, nameMax)));
    noteStart(state.open, { ...startHalf(event), seq });
    return call;
  }
  const began = takeStart(state.open, halfOf(event))?.seq ?? causeSeq;
  state.began.push(began === undefined ? 0 : seq - began);
  const latency = numberAt(data, 'latencyMs') ?? 0;
  // 0 is unknown: what took less than a millisecond counts as one.
  state.latency.push(latency > 0 ? Math.max(1, count(data, 'latencyMs')) : 0);
  return (
    call |
    end |
    (data['reused'] === true ? reused : 0) |
    (data['simulated'] === true ? simulated : 0) |
    addSpending(state, data)
  );
}

function addSpending(state: EventIndexState, data: JsonObject): number {
  const usage = objectAt(data, 'usage');
  const cost = numberAt(data, 'cost');
  if (usage === undefined && cost === undefined && data['firstTokenMs'] === undefined) return 0;
  state.firstToken.push(count(data, 'firstTokenMs'));
  state.inputTokens.push(count(usage, 'inputTokens'));
  state.outputTokens.push(count(usage, 'outputTokens'));
  state.cachedTokens.push(count(usage, 'cachedInputTokens'));
  state.cost.push(cost === undefined || !(cost >= 0) ? 0 : Math.min(countMax, Math.round(cost * 1e6) + 1));
  return columnFlags.spent;
}

/** The largest count that a column carries. */
const countMax = 4_294_967_295;

function count(data: JsonObject | undefined, key: string): number {
  const value = numberAt(data, key) ?? 0;
  return value > 0 ? Math.min(countMax, Math.round(value)) : 0;
}

/** Returns what an event is about in a word or two; the empty text if only its type says it. */
function nameOf({ type, data }: Event): string {
  const named = (key: string): string => stringAt(data, key) ?? '';
  if (isStructural(type)) return stringAt(data['event'], 'type') ?? '';
  switch (type) {
    case 'message.added':
      return stringAt(data['message'], 'role') ?? '';
    case 'state.committed':
      return stringAt(arrayAt(data, 'operations')?.[0], 'key') ?? '';
    case 'metadata.changed':
      return Object.keys(objectAt(data, 'set') ?? {})[0] ?? '';
    case 'file.patched':
      return named('path');
    case 'tests.ran':
      return named('command');
    case 'channel.saved':
      return named('channel');
    default:
      return named('name') || named('title') || named('task') || named('topic') || named('key');
  }
}

function hasFailed({ type, data }: Event): boolean {
  if (data['outcome'] === 'error' || type === 'verification.failed') return true;
  return type === 'tests.ran' && (numberAt(data, 'exitCode') ?? 0) !== 0;
}

/** Returns true if an event repeats the one before it: progress and heartbeats of a framework, which no catalogue knows. */
function isNoise({ last }: EventIndexState, { type, agent = '' }: Event): boolean {
  return specOf(type) === undefined && last.type === type && last.agent === agent;
}
