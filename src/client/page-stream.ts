import { BoundedMap } from '../core/bounded-map.ts';
import { given } from '../core/json.ts';
import type { Page, PageRequest, Platform, SessionRef } from '../core/store/event-store.ts';
import type { Segment } from '../core/view/view.ts';
import type { ReadResponse } from '../wire/generated/reprise/v1/store_pb.ts';
import { cursorFromWire } from '../wire/page-codec.ts';
import { eventFromWire, partFromWire } from '../wire/row-codec.ts';

/** Pages that one call brings at most, once a reader goes from page to page. */
const pagesMax = 16;
/** Streams of pages that are open at once; the oldest is let go. */
const streamsMax = 8;
/** How long a stream waits for its reader. A page that came earlier could be out of date. */
const heldMs = 1_000;

/** Asks the server for so many consecutive pages. */
type AskForPages = (
  ref: SessionRef,
  view: readonly Segment[],
  page: PageRequest,
  options: { readonly pages: number; readonly signal: AbortSignal },
) => AsyncIterable<ReadResponse>;

interface PageStream {
  readonly pages: AsyncIterator<ReadResponse>;
  /** Pages that it was asked for. */
  readonly asked: number;
  readonly stop: AbortController;
}

interface HeldStream extends PageStream {
  readonly cancelTimer: () => void;
}

/**
 * Reads pages. A reader that asks for the page after the one it got gets a stream of consecutive pages, so that it does
 * not wait for a round trip before each. The streams grow while the reader continues.
 */
export class PageStreams {
  readonly #ask: AskForPages;
  readonly #platform: Platform;
  /** By the question that the next page answers. */
  readonly #streams = new BoundedMap<string, HeldStream>(streamsMax);
  /** Questions that would follow a page that was given, each with the pages to ask for then. */
  readonly #expected = new BoundedMap<string, number>(streamsMax);

  constructor(ask: AskForPages, platform: Platform) {
    this.#ask = ask;
    this.#platform = platform;
  }

  /** Returns one page, from an open stream if it is the next of one. */
  async read(ref: SessionRef, view: readonly Segment[], page: PageRequest): Promise<Page> {
    const question = questionOf(ref, view, page);
    const held = this.#take(question);
    const found = held === undefined ? undefined : await nextOf(held.pages);
    if (held !== undefined && found !== undefined) return this.#given(found, held, { ref, view, page });
    const asked = this.#expected.get(question) ?? 1;
    const stop = new AbortController();
    const pages = this.#ask(ref, view, page, { pages: asked, signal: stop.signal })[Symbol.asyncIterator]();
    const first = await pages.next();
    if (first.done === true) throw new Error('The server sent no page');
    return this.#given(first.value, { pages, asked, stop }, { ref, view, page });
  }

  #given(response: ReadResponse, stream: PageStream, { ref, view, page }: Asked): Page {
    const found = pageOf(response, page);
    // A call that is read to its end costs nothing; one that is left would count as aborted.
    if (found.next === undefined || stream.asked === 1) void nextOf(stream.pages);
    if (found.next === undefined) return found;
    const question = questionOf(ref, view, { ...page, cursor: found.next });
    this.#expected.set(question, Math.min(pagesMax, stream.asked * 2));
    if (stream.asked > 1) this.#hold(question, stream);
    return found;
  }

  #hold(question: string, stream: PageStream): void {
    const [oldest] = this.#streams.size < streamsMax ? [] : this.#streams.keys();
    if (oldest !== undefined) this.#take(oldest)?.stop.abort();
    this.#take(question)?.stop.abort();
    const cancelTimer = this.#platform.startTimer(heldMs, () => this.#take(question)?.stop.abort());
    this.#streams.set(question, { ...stream, cancelTimer });
  }

  #take(question: string): HeldStream | undefined {
    const stream = this.#streams.get(question);
    stream?.cancelTimer();
    this.#streams.delete(question);
    return stream;
  }

  /** Lets go of every page that came ahead: a change may have made it wrong. */
  drop(): void {
    for (const question of this.#streams.keys()) this.#take(question)?.stop.abort();
  }
}

/** One question for a page. */
interface Asked {
  readonly ref: SessionRef;
  readonly view: readonly Segment[];
  readonly page: PageRequest;
}

/** Returns the next page of a stream; undefined if the stream has ended or broke: then the page is asked for anew. */
async function nextOf(pages: AsyncIterator<ReadResponse>): Promise<ReadResponse | undefined> {
  try {
    const next = await pages.next();
    return next.done === true ? undefined : next.value;
  } catch {
    return undefined;
  }
}

function questionOf(ref: SessionRef, view: readonly Segment[], page: PageRequest): string {
  return JSON.stringify([ref.namespace, ref.session, view, page]);
}

function pageOf({ events, next, parts, partsComplete }: ReadResponse, { select }: PageRequest): Page {
  const brought = parts.map(partFromWire);
  return {
    events: events.map((event) => eventFromWire(event, select)),
    ...given({
      next: next === undefined ? undefined : cursorFromWire(next),
      parts: partsComplete ? new Map(brought.map((part) => [part.digest, part])) : undefined,
    }),
  };
}
