import type { JSONRPCRequest } from '@modelcontextprotocol/client';
import type { CallEnd, OpenCall, Recorder } from '../../core/recording/recorder.ts';

/** A request that waits for its answer. */
interface OpenRequest {
  readonly method: string;
  /** Set once the recorder let the call pass. */
  call?: OpenCall;
  recorder?: Recorder;
  isCancelled?: boolean;
}

/** The open requests of one direction. Each side numbers its own. */
export class OpenRequests {
  readonly #open = new Map<unknown, OpenRequest>();

  /** Notes a request that is about to be recorded. */
  add({ id, method }: JSONRPCRequest): void {
    this.#open.set(id, { method });
  }

  /** Notes the call of a request; returns false if the request was cancelled before. */
  begin(id: unknown, call: OpenCall, recorder: Recorder): boolean {
    const request = this.#open.get(id);
    if (request !== undefined && request.isCancelled !== true) {
      request.call = call;
      request.recorder = recorder;
      return true;
    }
    this.#open.delete(id);
    call.end({ outcome: 'aborted' });
    return false;
  }

  /** Ends a request, which got its answer or never will. Returns its method; undefined if it is not open. */
  end(id: unknown, end: CallEnd): string | undefined {
    const request = this.#open.get(id);
    this.#open.delete(id);
    request?.call?.end(end);
    return request?.method;
  }

  /** Cancels a request; returns false if it has not been sent, so that the other side need not know. */
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

  /** The call that an incoming request belongs to: the only open one; undefined if there are several or none. */
  get only(): OpenCall | undefined {
    const calls = [...this.#open.values()].flatMap(({ call }) => (call === undefined ? [] : [call]));
    return calls.length === 1 ? calls[0] : undefined;
  }

  /** The recorder of the request that was sent last; undefined if none is open. */
  get recorder(): Recorder | undefined {
    return [...this.#open.values()].findLast(({ recorder }) => recorder !== undefined)?.recorder;
  }
}
