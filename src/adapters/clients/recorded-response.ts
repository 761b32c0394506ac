import { isObject, type JsonObject } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { StreamFold } from '../../protocols/protocol.ts';
import { SseReader } from '../../protocols/sse.ts';
import type { Cut, Exchange } from './exchange.ts';

/**
 * Returns the same response, whose body is recorded while it is read: piece by piece as the client asks for it, nothing
 * kept back, nothing asked for ahead of the reader. `leavesByRelease` is for a client that lets go of a body it stops
 * reading without canceling it.
 */
export function recordedResponse(
  exchange: Exchange,
  response: Response,
  { leavesByRelease = false }: { readonly leavesByRelease?: boolean } = {},
): Response {
  if (response.body === null) {
    exchange.end({}, { response });
    return response;
  }
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
  const listener = isStream ? new StreamListener(exchange, response) : new BodyListener(exchange, response);
  const { status, statusText, headers } = response;
  const body = heard(response.body, listener);
  if (leavesByRelease) hearRelease(body, listener);
  const copy = new Response(body, { status, statusText, headers });
  // A response that is made by hand does not know where it came from.
  for (const key of ['url', 'redirected', 'type'] as const)
    Object.defineProperty(copy, key, { value: response[key], configurable: true });
  return copy;
}

/** Hears what is read of a body. */
interface Listener {
  hear(bytes: Uint8Array): void;
  /** The body is over. */
  end(): void;
  /** Reading failed. */
  fail(error: unknown): void;
  /** The reader stopped reading. */
  stop(): void;
}

function heard(body: ReadableStream<Uint8Array>, listener: Listener): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            listener.end();
            controller.close();
            return;
          }
          // The program may continue at once with the last piece, so the listener hears it first.
          listener.hear(value);
          controller.enqueue(value);
        } catch (error) {
          listener.fail(error);
          controller.error(error);
        }
      },
      cancel(reason) {
        listener.stop();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function hearRelease(body: ReadableStream<Uint8Array>, listener: Listener): void {
  const getReader = body.getReader.bind(body) as () => ReadableStreamDefaultReader<Uint8Array>;
  const watched = (): ReadableStreamDefaultReader<Uint8Array> => {
    const reader = getReader();
    const release = reader.releaseLock.bind(reader);
    // Of a body that was read to its end, this says nothing new.
    const releaseLock = (): void => {
      listener.stop();
      release();
    };
    return Object.defineProperty(reader, 'releaseLock', { value: releaseLock });
  };
  Object.defineProperty(body, 'getReader', { value: watched });
}

/** Puts a streamed answer together. */
class StreamListener implements Listener {
  readonly #exchange: Exchange;
  readonly #response: Response;
  readonly #reader: SseReader = new SseReader();
  readonly #fold: StreamFold;
  #hasToken = false;

  constructor(exchange: Exchange, response: Response) {
    this.#exchange = exchange;
    this.#response = response;
    this.#fold = exchange.protocol.from.fold();
  }

  hear(bytes: Uint8Array): void {
    this.#add(this.#reader.add(bytes));
    if (this.#fold.hasToken && !this.#hasToken) {
      this.#hasToken = true;
      this.#exchange.firstToken();
    }
    if (this.#fold.isFinished) this.#exchange.end(this.#fold.body(), { response: this.#response });
  }

  #add(events: ReturnType<SseReader['add']>): void {
    try {
      for (const event of events) this.#fold.add(event);
    } catch {
      // An event that cannot be read is the client's to complain about.
    }
  }

  end(): void {
    this.#add(this.#reader.end());
    this.#over({ outcome: 'interrupted', error: new Error('The stream ended before its answer did') });
  }

  fail(error: unknown): void {
    this.#exchange.fail(error, { body: this.#fold.body(), response: this.#response });
  }

  stop(): void {
    this.#over({ outcome: 'aborted' });
  }

  #over(cut: Cut): void {
    this.#exchange.end(this.#fold.body(), { response: this.#response, cut });
  }
}

/** Reads a whole answer. */
class BodyListener implements Listener {
  readonly #exchange: Exchange;
  readonly #response: Response;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(exchange: Exchange, response: Response) {
    this.#exchange = exchange;
    this.#response = response;
  }

  hear(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= limits.appendBytesMax) this.#pieces.push(bytes);
  }

  end(): void {
    const body = this.#body();
    const cut: Cut = { outcome: 'error', error: new Error('The answer is not JSON') };
    this.#exchange.end(body ?? {}, { response: this.#response, ...(body === undefined ? { cut } : {}) });
  }

  fail(error: unknown): void {
    this.#exchange.fail(error);
  }

  stop(): void {
    this.#exchange.end({}, { response: this.#response, cut: { outcome: 'aborted' } });
  }

  #body(): JsonObject | undefined {
    try {
      const body: unknown = JSON.parse(Buffer.concat(this.#pieces).toString('utf8'));
      return isObject(body) ? body : undefined;
    } catch {
      return undefined;
    }
  }
}
