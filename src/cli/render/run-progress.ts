import type { Event } from '../../core/event/event.ts';
import { durationText, plural } from '../../wording/amount.ts';
import { cut, plain } from '../../wording/text.ts';
import type { ProgressStream } from '../terminal/progress.ts';

const quietMs = 1_000;
const drawEveryMs = 200;

/** How to show progress. */
export interface RunProgressOptions {
  readonly isWanted: boolean;
  readonly now?: () => number;
}

/**
 * Draws what agents are doing once it takes longer than a second: the time, the number of calls, and the open one. It draws
 * in place, and only on a terminal.
 */
export class RunProgress {
  /** Whether anything is ever drawn; if not, nothing needs to follow the events. */
  readonly isShown: boolean;
  readonly #stream: ProgressStream;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #open = new Map<string, string>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #models = 0;
  #others = 0;
  #isDrawn = false;
  #isPaused = false;
  /** Text before the rest, such as how many of several branches are done. */
  prefix = '';

  constructor(stream: ProgressStream, { isWanted, now = () => performance.now() }: RunProgressOptions) {
    this.#stream = stream;
    this.#now = now;
    this.#startedAt = now();
    this.isShown = isWanted && stream.isTTY === true;
    if (!this.isShown) return;
    this.#timer = setInterval(() => this.draw(), drawEveryMs);
    this.#timer.unref();
  }

  /** Takes note of an event of a run. */
  note({ type, data }: Event): void {
    const call = String(data['call']);
    if (type === 'call.ended') this.#open.delete(call);
    if (type !== 'call.started') return;
    this.#open.set(call, String(data['name']));
    if (data['kind'] === 'model') this.#models++;
    else this.#others++;
  }

  draw(): void {
    if (this.#isPaused || this.#now() - this.#startedAt < quietMs) return;
    this.#isDrawn = true;
    // A terminal of unknown width reports 0 columns.
    this.#stream.write(`\r\u001b[2K${cut(this.text(), (this.#stream.columns || 80) - 1)}`);
  }

  /** Returns the text to draw: `4.2s, 2 model calls, 1 other call, refund …`. */
  text(): string {
    const others = this.#others === 0 ? '' : `, ${plural(this.#others, 'other call')}`;
    const open = [...this.#open.values()].at(-1);
    const now = open === undefined ? '' : `, ${plain(open)} …`;
    const took = durationText(this.#now() - this.#startedAt);
    return `${this.prefix}${took}, ${plural(this.#models, 'model call')}${others}${now}`;
  }

  /** Pauses drawing while the body writes to the screen. */
  async paused<T>(body: () => Promise<T>): Promise<T> {
    this.#isPaused = true;
    this.clear();
    try {
      return await body();
    } finally {
      this.#isPaused = false;
    }
  }

  clear(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#stream.write('\r\u001b[2K');
  }

  close(): void {
    clearInterval(this.#timer);
    this.clear();
  }
}
