import { countText, durationText } from './render/amount.ts';

// Whoever waits less than this needs no explanation.
const patienceMs = 1_000;
const betweenMs = 100;

/** Where progress is written. */
export interface ProgressScreen {
  readonly isTerminal: boolean;
  readonly columns: number;
  write(text: string): void;
  now(): number;
}

const stderr: ProgressScreen = {
  get isTerminal() {
    return process.stderr.isTTY === true;
  },
  get columns() {
    return process.stderr.columns || 80;
  },
  write: (text) => void process.stderr.write(text),
  now: () => performance.now(),
};

/** One line on stderr that says how far something is, once it takes longer than a second. */
export class Progress {
  readonly #what: string;
  readonly #screen: ProgressScreen;
  readonly #start: number;
  #shownAt = 0;
  #hasShown = false;

  /** `what` is what is counted: `events verified`. */
  constructor(what: string, screen: ProgressScreen = stderr) {
    this.#what = what;
    this.#screen = screen;
    this.#start = screen.now();
  }

  /** Tells how much is done, and of how much if that is known. */
  at(count: number, total?: number): void {
    const now = this.#screen.now();
    const ms = now - this.#start;
    if (!this.#screen.isTerminal || ms < patienceMs || now - this.#shownAt < betweenMs) return;
    this.#shownAt = now;
    this.#hasShown = true;
    const rate = (count / ms) * 1000;
    const of = total === undefined ? '' : ` of ${countText(total)}`;
    const left = total === undefined || rate === 0 ? '' : `, ${durationText(((total - count) / rate) * 1000)} left`;
    const line = `${countText(count)}${of} ${this.#what}, ${countText(Math.round(rate))}/s${left}`;
    this.#screen.write(`\r\u001b[K${line.slice(0, Math.max(10, this.#screen.columns - 1))}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#hasShown) this.#screen.write('\r\u001b[K');
    this.#hasShown = false;
  }
}
