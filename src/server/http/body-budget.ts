import { RepriseError } from '../../core/error.ts';

/** The bytes of one request, which are counted. */
export interface CountedBytes {
  /** Passes a body on and counts it. */
  readonly counted: (body: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  /** Counts more bytes, such as those that a body unpacks to; throws `store.busy` if they are too many. */
  readonly take: (bytes: number) => void;
  /** Gives the bytes back when the request is done with them. */
  readonly release: () => void;
  /** Whether the bytes were too many, which the answer already says. */
  readonly isRefused: boolean;
}

/** Bounds the bytes of all requests that a server has in memory at once. */
export class BodyBudget {
  readonly #bytesMax: number;
  readonly #onChange: (bytes: number) => void;
  #bytes = 0;

  constructor(bytesMax: number, onChange: (bytes: number) => void) {
    this.#bytesMax = bytesMax;
    this.#onChange = onChange;
  }

  /** Begins to count the bytes of a request. `failure` makes the error that gets through where they are read. */
  open(failure: (error: RepriseError) => Error): CountedBytes {
    let held = 0;
    let isRefused = false;
    const release = (): void => {
      this.#change(-held);
      held = 0;
    };
    const take = (bytes: number): void => {
      if (this.#bytes + bytes > this.#bytesMax) {
        isRefused = true;
        throw failure(this.#full());
      }
      held += bytes;
      this.#change(bytes);
    };
    return {
      counted: (body) => counting(body, take),
      take,
      release,
      get isRefused() {
        return isRefused;
      },
    };
  }

  #change(bytes: number): void {
    this.#bytes += bytes;
    this.#onChange(this.#bytes);
  }

  #full(): RepriseError {
    return new RepriseError(
      'store.busy',
      `Cannot read the request: the server holds ${this.#bytesMax} bytes of others`,
      {
        hint: 'Try again in a moment.',
        details: { limit: 'serverBytesInFlightMax', max: this.#bytesMax },
      },
    );
  }
}

async function* counting(body: AsyncIterable<Uint8Array>, take: (bytes: number) => void): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    take(chunk.byteLength);
    yield chunk;
  }
}
