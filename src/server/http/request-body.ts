/** Bytes of a body that are kept for saying what is wrong with it. */
const keptBytesMax = 1_048_576;

/** The body of a request as far as it was read, so that a refusal can name the field that is wrong. */
export class RequestBody {
  readonly #chunks: Uint8Array[] = [];
  readonly #onRead: () => void;
  #bytes = 0;
  /** Whether the call was reached: until then, only the framework has seen the request. */
  isRead = false;

  /** The function is called when the body is whole, or its first message was read. */
  constructor(onRead: () => void) {
    this.#onRead = onRead;
  }

  /** Passes a body on, and keeps its beginning until the call is reached. */
  async *kept(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of body) {
      this.#bytes += chunk.byteLength;
      if (!this.isRead && this.#bytes <= keptBytesMax) this.#chunks.push(chunk);
      yield chunk;
    }
    this.#onRead();
  }

  /** Lets go of the bytes. */
  release(): void {
    this.isRead = true;
    this.#onRead();
    this.#chunks.length = 0;
  }

  /** Returns the whole body; undefined if it was too long to keep. */
  get bytes(): Uint8Array | undefined {
    return this.#bytes > keptBytesMax ? undefined : Buffer.concat(this.#chunks);
  }
}
