import type { HttpHandler, HttpRequest, HttpResponse, Listener, ListenOptions } from './listener.ts';
import { listen } from './listener.ts';

/**
 * Listens before the code that answers is loaded, which takes most of the time of a start. Requests that come earlier
 * wait for it.
 */
export class EarlyListener {
  readonly listener: Listener;
  readonly #early: EarlyRequests;

  private constructor(listener: Listener, early: EarlyRequests) {
    this.listener = listener;
    this.#early = early;
  }

  /** Listens. */
  static async start(options: ListenOptions): Promise<EarlyListener> {
    const early = new EarlyRequests();
    return new EarlyListener(await listen(early.handle, options), early);
  }

  /** Answers every request from now on, and those that wait. */
  answerBy(handler: HttpHandler): Listener {
    this.#early.answerBy(handler);
    return this.listener;
  }
}

/** Requests that cannot be answered yet. */
class EarlyRequests {
  #handler: HttpHandler | undefined;
  #waiting: (readonly [HttpRequest, HttpResponse])[] = [];

  readonly handle: HttpHandler = (request, response) => {
    if (this.#handler === undefined) this.#waiting.push([request, response]);
    else this.#handler(request, response);
  };

  answerBy(handler: HttpHandler): void {
    this.#handler = handler;
    for (const [request, response] of this.#waiting) handler(request, response);
    this.#waiting = [];
  }
}
