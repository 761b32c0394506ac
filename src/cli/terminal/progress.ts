import { countText, durationText } from '../../wording/amount.ts';
import { cut } from '../../wording/text.ts';

/** The stream to draw progress on, usually stderr. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const quietMs = 1_000;
const drawEveryMs = 100;

/**
 * Draws the progress of work that takes longer than a second: how many events were read, how fast, and how long the rest
 * may take. It draws in place, and only on a terminal.
 */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  #what = '';
  #total: number | undefined;
  #done = 0;
  #startedAt = 0;
  /** Nothing is drawn before this time: in the first second, and for a while after other output. */
  #quietUntil = 0;
  #addedAt = 0;
  #isShown = false;

  constructor(stream: ProgressStream, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  /** Begins new work. Without a total, there is no estimate. */
  begin(what: string, total?: number): void {
    this.clear();
    this.#what = what;
    this.#total = total;
    this.#done = 0;
    this.#startedAt = this.#now();
    this.#quietUntil = this.#startedAt + quietMs;
  }

  /** Adds events to the total. */
  expect(events: number): void {
    this.#total = (this.#total ?? 0) + events;
  }

  /** Begins a new part of the work: the count starts over, on the same line. */
  turnTo(what: string, total: number): void {
    this.#what = what;
    this.#total = total;
    this.#done = 0;
    this.#startedAt = this.#now();
  }

  /** Counts events that are done. */
  add(events: number): void {
    this.#done += events;
    this.#addedAt = this.#now();
    if (this.#what === '' || this.#stream.isTTY !== true) return;
    const now = this.#now();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + drawEveryMs;
    this.#isShown = true;
    // A terminal of unknown width reports 0 columns.
    this.#stream.write(`\r\u001b[2K${cut(this.text(), (this.#stream.columns || 80) - 1)}`);
  }

  /** How long nothing was read. */
  get idleMs(): number {
    return this.#now() - Math.max(this.#addedAt, this.#startedAt);
  }

  /** Ends the work and clears its line. */
  end(): void {
    this.clear();
    this.#what = '';
  }

  /** Clears the line so that other output can be written, and draws none for a while. */
  clear(): void {
    this.#quietUntil = this.#now() + quietMs;
    if (!this.#isShown) return;
    this.#isShown = false;
    this.#stream.write('\r\u001b[2K');
  }

  /** Returns the text to draw: `diff: 120,000 of 400,000 events, 230,000/s, about 1.2s left`. */
  text(): string {
    const perMs = this.#done / Math.max(1, this.#now() - this.#startedAt);
    const isKnown = this.#total !== undefined && this.#total >= this.#done;
    const total = this.#total ?? 0;
    const left = isKnown && perMs > 0 ? `, about ${durationText((total - this.#done) / perMs)} left` : '';
    const of = isKnown ? ` of ${countText(total)}` : '';
    return `${this.#what}: ${countText(this.#done)}${of} events, ${countText(Math.round(perMs * 1000))}/s${left}`;
  }
}
