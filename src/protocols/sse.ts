import { given } from '../core/json.ts';
import { eventData } from './json-text.ts';
import type { StreamEvent } from './protocol.ts';

/** Reads server-sent events from bytes, wherever the bytes are cut. */
export class SseReader {
  readonly #decoder: TextDecoder = new TextDecoder();
  #rest = '';
  #name: string | undefined;
  #data: string[] = [];

  /** Reads the next bytes and returns the events that they complete. */
  add(bytes: Uint8Array): readonly StreamEvent[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    return this.#lines(false);
  }

  /** Returns the event that the end of the body completes, if one is left. */
  end(): readonly StreamEvent[] {
    this.#rest += this.#decoder.decode();
    return [...this.#lines(true), ...this.#complete()];
  }

  #lines(isEnd: boolean): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    let from = 0;
    for (;;) {
      const at = this.#lineEnd(from, isEnd);
      if (at < 0) break;
      const line = this.#rest.slice(from, at);
      from = at + (this.#rest.startsWith('\r\n', at) ? 2 : 1);
      if (line === '') events.push(...this.#complete());
      else this.#field(line);
    }
    this.#rest = this.#rest.slice(from);
    return events;
  }

  /** A line ends with LF, CR or both; a CR at the very end may still be followed by its LF. */
  #lineEnd(from: number, isEnd: boolean): number {
    const rest = this.#rest;
    for (let at = from; at < rest.length; at++) {
      const code = rest.charCodeAt(at);
      if (code === 10 || (code === 13 && (isEnd || at + 1 < rest.length))) return at;
    }
    return isEnd && from < rest.length ? rest.length : -1;
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1);
    if (name === 'event') this.#name = value;
    else if (name === 'data') this.#data.push(value);
  }

  #complete(): readonly StreamEvent[] {
    const event = this.#name;
    const text = this.#data.join('\n');
    const isEmpty = event === undefined && this.#data.length === 0;
    this.#name = undefined;
    this.#data = [];
    return isEmpty ? [] : [{ ...given({ event }), data: eventData(text.trim()) }];
  }
}

/**
 * Reads the body of a streamed answer.
 *
 * @example
 * ```ts
 * const events = parseSse('data: {"n":1}\n\ndata: [DONE]\n\n'); // [{ data: { n: 1 } }, { data: '[DONE]' }]
 * ```
 */
export function parseSse(body: string): readonly StreamEvent[] {
  const reader = new SseReader();
  return [...reader.add(new TextEncoder().encode(body)), ...reader.end()];
}

/**
 * Writes an event as it is sent.
 *
 * @example
 * ```ts
 * const text = sseText({ event: 'ping', data: { type: 'ping' } }); // 'event: ping\ndata: {"type":"ping"}\n\n'
 * ```
 */
export function sseText({ event, data }: StreamEvent): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}
