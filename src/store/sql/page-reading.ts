import { limits } from '../../core/limits.ts';
import { earlier, later, maxSeq, minSeq, previous, type Seq, type SeqRange } from '../../core/point.ts';
import type { Cursor, Page, PageRequest, StoredEvent } from '../../core/store/event-store.ts';
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

/** The segment that is being read: its index in the view, and the range that is left of it. */
interface OpenSegment {
  readonly segment: Segment;
  readonly index: number;
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
  readonly #isForward: boolean;
  readonly #view: readonly Segment[];
  /** The index of the segment to read next. */
  #index: number;
  #open: OpenSegment | undefined;
  #page: Page | undefined;
  #bytesLeft: number;
  #scanLeft: number = limits.pageScanMax;

  constructor(view: readonly Segment[], request: PageRequest) {
    this.#request = request;
    this.#limit = Math.min(request.limit, limits.pageEventsMax);
    this.#bytesLeft = Math.min(request.bytesMax ?? limits.pageBytesMax, limits.pageBytesMax);
    this.#isForward = request.direction === 'forward';
    this.#view = view;
    this.#index = request.cursor?.segment ?? (this.#isForward ? 0 : view.length - 1);
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
    const limit = this.#limit - this.#events.length;
    // Without a filter every row counts, so the limit bounds what is read. A window of seqs would creep through a gap.
    const isFiltered = this.#request.filter !== undefined && !segment.carried;
    const window = isFiltered ? Math.min(this.#scanLeft, through - after) : through - after;
    return this.#isForward
      ? { segment, after, through: later(after, window), limit, isStart }
      : { segment, after: earlier(through, window), through, limit, isStart };
  }

  /** Returns true if the segment continues after a range, in reading direction. */
  isWindow({ segment, after, through }: PageRange): boolean {
    return this.#isForward ? through < segment.through : after > segment.after;
  }

  /**
   * Returns a range with the gap behind it, in reading direction: `found` is the nearest stored seq beyond the range. A
   * history has no gaps; a damaged one is not read seq by seq.
   */
  withGap(range: PageRange, found: Seq | null): PageRange {
    const { after, through } = this.#open ?? range;
    if (this.#isForward)
      return { ...range, through: found === null ? through : minSeq(through, maxSeq(range.through, previous(found))) };
    return { ...range, after: found === null ? after : maxSeq(after, minSeq(range.after, found)) };
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

  /** Returns the segment with something left to read, which may be a later one; undefined at the end of the view. */
  #unread(): OpenSegment | undefined {
    let open = this.#open;
    while (open === undefined || open.through <= open.after) {
      const index = this.#index;
      const segment = this.#view[index];
      if (segment === undefined) return undefined;
      const { cursor } = this.#request;
      const from = cursor?.segment === index ? cursor.seq : undefined;
      open = {
        segment,
        index,
        after: this.#isForward ? (from ?? segment.after) : segment.after,
        through: this.#isForward || from === undefined ? segment.through : previous(from),
        isStart: this.#isForward,
      };
      this.#open = open;
      this.#index += this.#isForward ? 1 : -1;
    }
    return open;
  }

  /** Returns where the next page continues after a seq of the open segment; undefined if the view ends there. */
  #cursorAfter({ segment, index }: OpenSegment, seq: Seq): Cursor | undefined {
    const isDone = this.#isForward ? seq >= segment.through : seq <= later(segment.after, 1);
    return isDone && this.#view[this.#index] === undefined ? undefined : { segment: index, seq };
  }

  #advance(range: PageRange, at: Seq, isDone: boolean): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#scanLeft -= this.#isForward ? at - range.after : later(range.through, 1) - at;
    if (this.#isForward) open.after = at;
    else open.through = previous(at);
    open.isStart = false;
    if (isDone && this.#scanLeft > 0 && this.#events.length < this.#limit) return;
    const next = this.#cursorAfter(open, at);
    this.#page = next === undefined ? { events: this.#events } : { events: this.#events, next };
  }
}
