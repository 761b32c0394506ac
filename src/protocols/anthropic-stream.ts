import { given, isObject, type JsonObject, type JsonValue, numberAt, objectAt, stringAt } from '../core/json.ts';
import { inputOfObject, objectOfInput, textOfValue, valueOfText } from './json-text.ts';
import { objectsIn, withoutKeys } from './message-list.ts';
import type { StreamEvent, StreamFold, StreamOptions } from './protocol.ts';

type Growing = Record<string, JsonValue>;

/** Puts a streamed message together. */
export class AnthropicFold implements StreamFold {
  #message: JsonObject = {};
  #error: JsonObject | undefined;
  readonly #blocks = new Map<number, Growing>();
  readonly #inputs = new Map<number, string>();
  isFinished = false;
  hasToken = false;

  add(event: StreamEvent): void {
    const { data } = event;
    if (typeof data === 'string') return;
    this.hasToken ||= anthropicSpeaks(event);
    const index = numberAt(data, 'index') ?? 0;
    switch (data['type']) {
      case 'message_start':
        this.#message = objectAt(data, 'message') ?? {};
        return;
      case 'content_block_start':
        this.#blocks.set(index, { ...objectAt(data, 'content_block') });
        return;
      case 'content_block_delta':
        this.#grow(index, objectAt(data, 'delta') ?? {});
        return;
      case 'message_delta':
        this.#end(data);
        return;
      case 'message_stop':
        this.isFinished = true;
        return;
      case 'error':
        this.#error = data;
        return;
      default:
    }
  }

  #grow(index: number, { type, ...delta }: JsonObject): void {
    const block = this.#blocks.get(index) ?? {};
    this.#blocks.set(index, block);
    if (type === 'input_json_delta') {
      this.#inputs.set(index, (this.#inputs.get(index) ?? '') + (stringAt(delta, 'partial_json') ?? ''));
    } else if (type === 'citations_delta') {
      block['citations'] = [...objectsIn(block['citations']), delta['citation'] ?? null];
    } else {
      for (const [key, value] of Object.entries(delta)) {
        const before = block[key];
        block[key] = typeof before === 'string' && typeof value === 'string' ? before + value : value;
      }
    }
  }

  #end(event: JsonObject): void {
    const { delta, usage, ...more } = withoutKeys(event, ['type']);
    const counted = isObject(usage) ? { usage: { ...objectAt(this.#message, 'usage'), ...known(usage) } } : {};
    this.#message = { ...this.#message, ...(isObject(delta) ? delta : {}), ...more, ...counted };
  }

  body(): JsonObject {
    const content = [...this.#blocks]
      .toSorted(([a], [b]) => a - b)
      .map(([index, block]) => {
        const written = this.#inputs.get(index);
        return written === undefined || written === ''
          ? block
          : { ...block, input: objectOfInput(valueOfText(written)) };
      });
    const hasBegun = Object.keys(this.#message).length > 0 || content.length > 0;
    if (!hasBegun) return this.#error ?? { content: [] };
    const { type: _, ...failure } = this.#error ?? {};
    return { ...this.#message, content, ...failure };
  }
}

/** Returns the counts that are there; a null at the end means that there is no later count. */
function known(usage: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
}

/** Returns true if an event of a message carries a piece of what the model says. */
export function anthropicSpeaks({ data }: StreamEvent): boolean {
  if (typeof data === 'string' || data['type'] !== 'content_block_delta') return false;
  const delta = objectAt(data, 'delta') ?? {};
  return ['text', 'thinking', 'partial_json'].some((key) => (stringAt(delta, key) ?? '') !== '');
}

/** Writes a whole message as the events of a stream. */
export function* anthropicEvents(body: JsonObject, { cut = (text) => [text] }: StreamOptions): Iterable<StreamEvent> {
  const named = (event: string, more: JsonObject = {}): StreamEvent => ({ event, data: { type: event, ...more } });
  if (body['type'] === 'error') return yield { event: 'error', data: body };
  const { content, stop_reason: reason, stop_sequence: sequence, usage, ...rest } = body;
  const counted = isObject(usage) ? usage : {};
  const opening = { ...rest, content: [], stop_reason: null, stop_sequence: null };
  yield named('message_start', { message: { ...opening, usage: { ...counted, output_tokens: 1 } } });
  for (const [index, block] of objectsIn(content).entries()) {
    const { start, deltas } = blockPieces(block, cut);
    yield named('content_block_start', { index, content_block: start });
    for (const delta of deltas) yield named('content_block_delta', { index, delta });
    yield named('content_block_stop', { index });
  }
  const { output_tokens: output = 0, output_tokens_details: details } = counted;
  const last = { output_tokens: output, ...given({ output_tokens_details: details }) };
  const delta = { stop_reason: reason ?? null, stop_sequence: sequence ?? null };
  yield named('message_delta', { delta, usage: last });
  yield named('message_stop');
}

/** How a block opens, and what is added to it. */
interface BlockPieces {
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function blockPieces(block: JsonObject, cut: NonNullable<StreamOptions['cut']>): BlockPieces {
  const pieces = (key: string, type: string, kind: 'text' | 'reasoning'): readonly JsonObject[] =>
    cut(stringAt(block, key) ?? '', kind).map((piece) => ({ type, [key]: piece }));
  switch (block['type']) {
    case 'text':
      return { start: { ...block, text: '' }, deltas: pieces('text', 'text_delta', 'text') };
    case 'thinking': {
      const signed = { type: 'signature_delta', signature: block['signature'] ?? '' };
      const start = { ...block, thinking: '', signature: '' };
      return { start, deltas: [...pieces('thinking', 'thinking_delta', 'reasoning'), signed] };
    }
    case 'tool_use': {
      const written = cut(textOfValue(inputOfObject(block['input'])), 'arguments');
      const deltas = written.map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
      return { start: { ...block, input: {} }, deltas };
    }
    default:
      return { start: block, deltas: [] };
  }
}
