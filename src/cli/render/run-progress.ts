import type { Event } from '../../core/event/event.ts';
import { durationText, plural } from '../../wording/amount.ts';
import { cut, plain } from '../../wording/text.ts';
import type { ProgressStream } from '../terminal/progress.ts';

const quietMs = 1_000;
const drawEveryMs = 200;

/** How progress is shown. */
export interface RunProgressOptions {
  readonly isWanted: boolean;
  readonly now?: () => number;
}

/**
 * What agents are doing, drawn in place once it takes longer than a second: how long, how many calls, which is under way.
 * Drawn on a terminal and nowhere else, since a log wants no frames.
 */
export class RunProgress {
  /** Whether anything is ever drawn: otherwise nobody need read along. */
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
  /** What is said before: of several branches, how many are done. */
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

  /** Takes in an event of a run. */
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
    // A terminal that does not know how wide it is says 0.
    this.#stream.write(`\r\u001b[2K${cut(this.text(), (this.#stream.columns || 80) - 1)}`);
  }

  /** What is drawn: `4.2s, 2 model calls, 1 other call, refund …`. */
  text(): string {
    const others = this.#others === 0 ? '' : `, ${plural(this.#others, 'other call')}`;
    const [open] = [...this.#open.values()].slice(-1);
    const now = open === undefined ? '' : `, ${plain(open)} …`;
    const took = durationText(this.#now() - this.#startedAt);
    return `${this.prefix}${took}, ${plural(this.#models, 'model call')}${others}${now}`;
  }

  /** Does something that writes to the screen itself. */
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
