import { RepriseError } from '../core/error.ts';
import { connectError } from './call-failure.ts';

/** A body that is counted. */
interface CountedBody {
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives the bytes back when the call has ended. */
  readonly release: () => void;
  /** Whether the bytes were too many, which the answer already says. */
  readonly isRefused: boolean;
}

/** Bounds the bytes of all requests that a server holds at once. */
export class BodyBudget {
  readonly #bytesMax: number;
  readonly #onChange: (bytes: number) => void;
  #bytes = 0;

  constructor(bytesMax: number, onChange: (bytes: number) => void) {
    this.#bytesMax = bytesMax;
    this.#onChange = onChange;
  }

  /** Passes the body of a request on and counts it. */
  counted(body: AsyncIterable<Uint8Array>): CountedBody {
    let held = 0;
    let isRefused = false;
    const release = (): void => {
      this.#change(-held);
      held = 0;
    };
    const take = (bytes: number): void => {
      // It is thrown in the middle of a call, where only an error with a status gets through.
      if (this.#bytes + bytes > this.#bytesMax) {
        isRefused = true;
        throw connectError(this.#full());
      }
      held += bytes;
      this.#change(bytes);
    };
    return {
      body: counting(body, take),
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
