import { countText, durationText } from '../../wording/amount.ts';
import { cut } from '../../wording/text.ts';

/** Where progress is drawn: standard error, or something like it. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const quietMs = 1_000;
const drawEveryMs = 100;

/**
 * How far something is that takes longer than a second: how many events were read, how fast, and how long it may take
 * still. Drawn in place on a terminal, and on nothing else, since a log wants no frames.
 */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  #what = '';
  #total: number | undefined;
  #done = 0;
  #startedAt = 0;
  /** Nothing is drawn before: in the first second, and for a while after anything else was written. */
  #quietUntil = 0;
  #addedAt = 0;
  #isShown = false;

  constructor(stream: ProgressStream, now: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
  }

  /** Something begins. Without a total, there is no estimate. */
  begin(what: string, total?: number): void {
    this.clear();
    this.#what = what;
    this.#total = total;
    this.#done = 0;
    this.#startedAt = this.#now();
    this.#quietUntil = this.#startedAt + quietMs;
  }

  /** So many events more are to be read than was known when it began. */
  expect(events: number): void {
    this.#total = (this.#total ?? 0) + events;
  }

  /** Another part of it begins: it is counted anew, and drawn where the last one was. */
  turnTo(what: string, total: number): void {
    this.#what = what;
    this.#total = total;
    this.#done = 0;
    this.#startedAt = this.#now();
  }

  /** So many events more are done. */
  add(events: number): void {
    this.#done += events;
    this.#addedAt = this.#now();
    if (this.#what === '' || this.#stream.isTTY !== true) return;
    const now = this.#now();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + drawEveryMs;
    this.#isShown = true;
    // A terminal that does not know how wide it is says 0.
    this.#stream.write(`\r\u001b[2K${cut(this.text(), (this.#stream.columns || 80) - 1)}`);
  }

  /** For how long nothing was read. */
  get idleMs(): number {
    return this.#now() - Math.max(this.#addedAt, this.#startedAt);
  }

  /** It is done, and nothing is left of it on the screen. */
  end(): void {
    this.clear();
    this.#what = '';
  }

  /** Takes the line off the screen, so that something else can be written there; while rows flow, none is drawn. */
  clear(): void {
    this.#quietUntil = this.#now() + quietMs;
    if (!this.#isShown) return;
    this.#isShown = false;
    this.#stream.write('\r\u001b[2K');
  }

  /** What is drawn: `diff: 120,000 of 400,000 events, 230,000/s, about 1.2s left`. */
  text(): string {
    const perMs = this.#done / Math.max(1, this.#now() - this.#startedAt);
    const isKnown = this.#total !== undefined && this.#total >= this.#done;
    const total = this.#total ?? 0;
    const left = isKnown && perMs > 0 ? `, about ${durationText((total - this.#done) / perMs)} left` : '';
    const of = isKnown ? ` of ${countText(total)}` : '';
    return `${this.#what}: ${countText(this.#done)}${of} events, ${countText(Math.round(perMs * 1000))}/s${left}`;
  }
}
