import { isObject, type JsonObject, type JsonValue, numberAt, objectAt, stringAt } from '../core/json.ts';
import { objectsIn, withoutKeys } from './message-list.ts';
import type { StreamEvent, StreamFold, StreamOptions } from './protocol.ts';

type Growing = Record<string, JsonValue>;

/** The last events of a stream: each has the whole response. */
const terminal: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Where each kind of delta goes: a list of the item and the key of the text in it, or a key of the item itself. */
const places: Readonly<Record<string, { readonly list?: string; readonly index?: string; readonly key: string }>> = {
  'response.output_text.delta': { list: 'content', index: 'content_index', key: 'text' },
  'response.refusal.delta': { list: 'content', index: 'content_index', key: 'refusal' },
  'response.reasoning_text.delta': { list: 'content', index: 'content_index', key: 'text' },
  'response.reasoning_summary_text.delta': { list: 'summary', index: 'summary_index', key: 'text' },
  'response.function_call_arguments.delta': { key: 'arguments' },
  'response.mcp_call_arguments.delta': { key: 'arguments' },
  'response.custom_tool_call_input.delta': { key: 'input' },
  'response.code_interpreter_call_code.delta': { key: 'code' },
};

/** Puts a streamed response together. */
export class ResponseFold implements StreamFold {
  #head: JsonObject = {};
  #whole: JsonObject | undefined;
  readonly #items = new Map<number, Growing>();
  isFinished = false;
  hasToken = false;

  add(event: StreamEvent): void {
    const { data } = event;
    if (typeof data === 'string') return;
    const type = stringAt(data, 'type') ?? event.event ?? '';
    this.hasToken ||= responseSpeaks(event);
    const response = objectAt(data, 'response');
    if (response !== undefined) this.#head = response;
    if (terminal.has(type)) {
      this.#whole = response;
      this.isFinished = true;
    } else if (type === 'error') this.#head = { ...this.#head, error: failureOf(data) };
    else if (objectAt(data, 'error') !== undefined && type === '') this.#head = { ...this.#head, ...data };
    else this.#addToItem(type, data);
  }

  #addToItem(type: string, data: JsonObject): void {
    const index = numberAt(data, 'output_index');
    if (index === undefined) return;
    const item = objectAt(data, 'item');
    if (item !== undefined) this.#items.set(index, { ...item });
    const held = this.#items.get(index) ?? {};
    this.#items.set(index, held);
    const part = objectAt(data, 'part');
    if (part !== undefined) {
      const list = type.includes('summary') ? 'summary' : 'content';
      held[list] = placed(held[list], numberAt(data, `${list}_index`) ?? 0, part);
    }
    const place = places[type];
    const delta = stringAt(data, 'delta');
    if (place === undefined || delta === undefined) return;
    if (place.list === undefined) held[place.key] = (stringAt(held, place.key) ?? '') + delta;
    else {
      const at = numberAt(data, place.index ?? '') ?? 0;
      const piece = objectsIn(held[place.list])[at] ?? {};
      held[place.list] = placed(held[place.list], at, {
        ...piece,
        [place.key]: (stringAt(piece, place.key) ?? '') + delta,
      });
    }
  }

  body(): JsonObject {
    if (this.#whole !== undefined) return this.#whole;
    const output = [...this.#items].toSorted(([a], [b]) => a - b).map(([, item]) => item);
    return output.length === 0 && this.#head['error'] !== undefined ? this.#head : { ...this.#head, output };
  }
}

function failureOf(event: JsonObject): JsonObject {
  return objectAt(event, 'error') ?? withoutKeys(event, ['type', 'sequence_number']);
}

function placed(list: JsonValue | undefined, at: number, piece: JsonObject): readonly JsonValue[] {
  const pieces: JsonValue[] = [...objectsIn(list)];
  pieces[Math.min(at, pieces.length)] = piece;
  return pieces;
}

/** Returns true if an event of a response carries a piece of what the model says. */
export function responseSpeaks({ event, data }: StreamEvent): boolean {
  if (typeof data === 'string') return false;
  const type = stringAt(data, 'type') ?? event ?? '';
  return type.endsWith('.delta') && (stringAt(data, 'delta') ?? '') !== '';
}

/** Writes a whole response as the events of a stream. */
export function* responseEvents(body: JsonObject, { cut = (text) => [text] }: StreamOptions): Iterable<StreamEvent> {
  let number = 0;
  const named = (event: string, data: JsonObject): StreamEvent => ({
    event,
    data: { type: event, sequence_number: number++, ...data },
  });
  if (body['output'] === undefined && isObject(body['error'])) return yield named('error', body['error']);
  const begun = { ...body, status: 'in_progress', incomplete_details: null, output: [], usage: null };
  yield named('response.created', { response: begun });
  yield named('response.in_progress', { response: begun });
  for (const [index, item] of objectsIn(body['output']).entries())
    for (const [event, data] of itemEvents(item, index, cut)) yield named(event, data);
  const status = stringAt(body, 'status') ?? 'completed';
  yield named(`response.${status}`, { response: body });
}

type Cut = NonNullable<StreamOptions['cut']>;
type Named = readonly [event: string, data: JsonObject];

function* itemEvents(item: JsonObject, index: number, cut: Cut): Iterable<Named> {
  const emptied: JsonObject = { summary: [], content: [], arguments: '', input: '', status: 'in_progress' };
  const opening = Object.fromEntries(Object.entries(item).map(([key, value]) => [key, emptied[key] ?? value]));
  yield ['response.output_item.added', { output_index: index, item: opening }];
  const place = { item_id: item['id'] ?? '', output_index: index };
  if (item['type'] === 'reasoning') yield* summaryEvents(objectsIn(item['summary']), place, cut);
  else if (item['type'] === 'function_call') yield* argumentEvents(item, place, cut);
  else if (item['type'] === 'message') yield* contentEvents(objectsIn(item['content']), place, cut);
  yield ['response.output_item.done', { output_index: index, item }];
}

function* contentEvents(pieces: readonly JsonObject[], place: JsonObject, cut: Cut): Iterable<Named> {
  for (const [index, part] of pieces.entries()) {
    const at = { ...place, content_index: index };
    const key = part['type'] === 'refusal' ? 'refusal' : 'text';
    const name = key === 'refusal' ? 'response.refusal' : 'response.output_text';
    const whole = stringAt(part, key) ?? '';
    const logprobs = key === 'text' ? { logprobs: [] } : {};
    yield ['response.content_part.added', { ...at, part: { ...part, [key]: '' } }];
    for (const delta of cut(whole, 'text')) yield [`${name}.delta`, { ...at, delta, ...logprobs }];
    yield [`${name}.done`, { ...at, [key]: whole, ...logprobs }];
    yield ['response.content_part.done', { ...at, part }];
  }
}

function* summaryEvents(pieces: readonly JsonObject[], place: JsonObject, cut: Cut): Iterable<Named> {
  for (const [index, part] of pieces.entries()) {
    const at = { ...place, summary_index: index };
    const text = stringAt(part, 'text') ?? '';
    yield ['response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } }];
    for (const delta of cut(text, 'reasoning')) yield ['response.reasoning_summary_text.delta', { ...at, delta }];
    yield ['response.reasoning_summary_text.done', { ...at, text }];
    yield ['response.reasoning_summary_part.done', { ...at, part }];
  }
}

function* argumentEvents(item: JsonObject, place: JsonObject, cut: Cut): Iterable<Named> {
  const written = stringAt(item, 'arguments') ?? '';
  for (const delta of cut(written, 'arguments')) yield ['response.function_call_arguments.delta', { ...place, delta }];
  yield ['response.function_call_arguments.done', { ...place, name: item['name'] ?? '', arguments: written }];
}
