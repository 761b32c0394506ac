import { limits } from '../../core/limits.ts';
import { later, previous, type Seq, type SeqRange } from '../../core/point.ts';
import type { Page, PageRequest, StoredEvent } from '../../core/store/event-store.ts';
import { type PageSegment, segmentsFrom } from '../../core/store/page-segments.ts';
import { inRange } from '../../core/view/segment.ts';
import type { Segment } from '../../core/view/view.ts';
import { type EventRow, eventOf } from './event-row.ts';

/** A stretch of a segment that a store reads next. */
export interface PageRange extends SeqRange {
  readonly segment: Segment;
  /** Rows at most. */
  readonly limit: number;
  /** Whether this is the start of the segment, so that a filter may still skip the first events. */
  readonly isStart: boolean;
}

/** The segment that is being read: what is left of it. */
interface OpenSegment extends PageSegment {
  after: Seq;
  through: Seq;
  isStart: boolean;
}

/**
 * One page while a SQL store fills it. The store asks {@link next} for a range, reads its rows, and hands them to
 * {@link take}, until there is no next range. Knows no database, so that one loop serves stores that answer at once and
 * stores that must be waited for.
 */
export class PageReading {
  readonly #events: StoredEvent[] = [];
  readonly #request: PageRequest;
  readonly #limit: number;
  readonly #segments: Iterator<PageSegment>;
  #open: OpenSegment | undefined;
  #page: Page | undefined;
  #bytesLeft: number;
  #scanLeft: number = limits.pageScanMax;

  constructor(view: readonly Segment[], request: PageRequest) {
    this.#request = request;
    this.#limit = Math.min(request.limit, limits.pageEventsMax);
    this.#bytesLeft = Math.min(request.bytesMax ?? limits.pageBytesMax, limits.pageBytesMax);
    this.#segments = segmentsFrom(view, request);
  }

  /** Payload bytes that the page has room for. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** Returns the page as far as it is filled. */
  get page(): Page {
    return this.#page ?? { events: this.#events };
  }

  /** Returns the range to read next; undefined once the page is full or the view has ended. */
  next(): PageRange | undefined {
    if (this.#page !== undefined) return undefined;
    const open = this.#unread();
    if (open === undefined) return undefined;
    const { segment, after, through, isStart } = open;
    const window = Math.min(this.#scanLeft, through - after);
    const range = this.#isForward
      ? { after, through: later(after, window) }
      : { after: later(through, -window), through };
    return { segment, ...range, limit: this.#limit - this.#events.length, isStart };
  }

  /** Skips the events of the open segment up to a seq: the filter lets none of them pass. */
  skip(through: Seq): void {
    if (this.#open === undefined) return;
    this.#open.after = through;
    this.#open.isStart = false;
  }

  /** Returns how many of the next payloads have room, and counts them. The first event of a page always has. */
  fit(sizes: readonly number[]): number {
    let count = 0;
    for (const size of sizes) {
      if (size > this.#bytesLeft && (this.#events.length > 0 || count > 0)) break;
      this.#bytesLeft = Math.max(0, this.#bytesLeft - size);
      count++;
    }
    return count;
  }

  /** Counts bytes that are known to have room. */
  spend(bytes: number): void {
    this.#bytesLeft -= bytes;
  }

  /**
   * Takes rows of a range in reading direction. `isDone` says that the range has no others; `passes` leaves out rows that
   * the database could not decide about.
   */
  take(
    range: PageRange,
    rows: readonly EventRow[],
    { isDone, passes }: { readonly isDone: boolean; readonly passes?: ((row: EventRow) => boolean) | undefined },
  ): void {
    const { segment } = range;
    for (const row of rows)
      if (!segment.except.some((gap) => inRange(gap, row[0])) && passes?.(row) !== false)
        this.#events.push(eventOf(segment.branch, row, this.#request.select));
    const end = this.#isForward ? range.through : later(range.after, 1);
    // Nothing had room: the next page starts with this range.
    const start = this.#isForward ? range.after : later(range.through, 1);
    this.#advance(range, isDone ? end : (rows.at(-1)?.[0] ?? start), isDone);
  }

  get #isForward(): boolean {
    return this.#request.direction === 'forward';
  }

  /** The segment with something left to read, which may be a later one. */
  #unread(): OpenSegment | undefined {
    while (this.#open === undefined || this.#open.through <= this.#open.after) {
      const { value, done } = this.#segments.next();
      if (done === true) return undefined;
      const { segment, from } = value;
      this.#open = {
        ...value,
        after: this.#isForward ? (from ?? segment.after) : segment.after,
        through: this.#isForward || from === undefined ? segment.through : previous(from),
        isStart: this.#isForward,
      };
    }
    return this.#open;
  }

  #advance(range: PageRange, at: Seq, isDone: boolean): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#scanLeft -= this.#isForward ? at - range.after : later(range.through, 1) - at;
    if (this.#isForward) open.after = at;
    else open.through = previous(at);
    open.isStart = false;
    if (isDone && this.#scanLeft > 0 && this.#events.length < this.#limit) return;
    const next = open.nextAfter(at);
    this.#page = next === undefined ? { events: this.#events } : { events: this.#events, next };
  }
}
