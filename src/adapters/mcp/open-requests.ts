import type { JSONRPCRequest } from '@modelcontextprotocol/client';
import type { CallEnd, OpenCall } from '../../core/recording/recorder.ts';

/** A request that waits for its answer. */
interface OpenRequest {
  readonly method: string;
  /** There once the recorder let the call be made. */
  call?: OpenCall;
  isCancelled?: boolean;
}

/** The requests of one direction that wait for their answers. Each side counts its own ids. */
export class OpenRequests {
  readonly #open = new Map<unknown, OpenRequest>();

  /** Notes a request that is about to be recorded. */
  add({ id, method }: JSONRPCRequest): void {
    this.#open.set(id, { method });
  }

  /** The call of a request was let through; false if the request was taken back before. */
  begin(id: unknown, call: OpenCall): boolean {
    const request = this.#open.get(id);
    if (request !== undefined && request.isCancelled !== true) {
      request.call = call;
      return true;
    }
    this.#open.delete(id);
    call.end({ outcome: 'aborted' });
    return false;
  }

  /** The answer came, or never will; gives the method, undefined for what does not wait (any more). */
  end(id: unknown, end: CallEnd): string | undefined {
    const request = this.#open.get(id);
    this.#open.delete(id);
    request?.call?.end(end);
    return request?.method;
  }

  /** Takes a request back; false if it has not been sent, so that there is nothing to tell the other side. */
  cancel(id: unknown): boolean {
    const request = this.#open.get(id);
    if (request === undefined || request.call !== undefined) {
      this.end(id, { outcome: 'aborted' });
      return true;
    }
    request.isCancelled = true;
    return false;
  }

  /** Ends all of them. */
  endAll(end: CallEnd): void {
    for (const id of this.#open.keys()) this.end(id, end);
  }

  /** The call that something belongs to that comes in meanwhile; undefined unless there is exactly one. */
  get only(): OpenCall | undefined {
    const calls = [...this.#open.values()].flatMap(({ call }) => (call === undefined ? [] : [call]));
    return calls.length === 1 ? calls[0] : undefined;
  }
}
