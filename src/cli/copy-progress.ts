import type { CopyProgress } from '../engine/copy.ts';
import type { Progress } from './render/progress.ts';

/** Makes one line of progress of many sessions: each is written once and read again once. */
export class CopyProgressLine {
  readonly #progress: Progress;
  #stage = '';
  #done = 0;

  constructor(progress: Progress) {
    this.#progress = progress;
    progress.begin('copy');
  }

  /** Takes note of how far a session is. */
  show({ session, stage, events, total }: CopyProgress): void {
    const name = `${stage} ${session}`;
    if (name !== this.#stage) {
      this.#stage = name;
      this.#done = 0;
      // What is written is read again: both are known from the beginning.
      if (stage === 'copying') this.#progress.expect(total * 2);
    }
    this.#progress.add(Math.max(0, events - this.#done));
    this.#done = events;
  }
}
