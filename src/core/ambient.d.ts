/**
 * The web globals that pure code may use, declared by hand.
 *
 * Pure rooms compile without Node and without DOM types, so that reaching for a clock, a file or the network does not
 * compile. These few globals exist in every runtime we support, do no I/O, and are worth having. Rooms with Node types
 * must not include this file: `@types/node` declares the same names.
 */

/** What listens to an abort. */
type AbortListener = () => void;

/** Says whether, and why, an operation should stop. */
interface AbortSignal {
  readonly aborted: boolean;
  // Anything may be given as the reason, which is how Node and the DOM declare it, too.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly reason: any;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: AbortListener, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

declare var AbortSignal: {
  readonly prototype: AbortSignal;
  abort(reason?: unknown): AbortSignal;
  any(signals: AbortSignal[]): AbortSignal;
};

/** Owns an `AbortSignal` and can set it off. */
interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare var AbortController: {
  readonly prototype: AbortController;
  new (): AbortController;
};

/** Text to UTF-8 bytes. */
interface TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>;
}

declare var TextEncoder: {
  readonly prototype: TextEncoder;
  new (): TextEncoder;
};

/** UTF-8 bytes to text; `fatal` refuses bytes that are not UTF-8. */
interface TextDecoder {
  decode(input?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}

declare var TextDecoder: {
  readonly prototype: TextDecoder;
  new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
};

declare function structuredClone<T>(value: T): T;
