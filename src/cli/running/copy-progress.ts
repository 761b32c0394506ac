import type { CopyProgress } from '../../engine/copying/copy-options.ts';
import { plain } from '../../wording/text.ts';
import type { Progress } from '../terminal/progress.ts';

const words = { copying: 'copy', verifying: 'verify' } as const;

/** Shows the progress of many sessions on one line; each is written and then verified. */
export class CopyProgressLine {
  readonly #progress: Progress;
  #part = '';
  #done = 0;

  constructor(progress: Progress) {
    this.#progress = progress;
    progress.begin('copy');
  }

  /** Updates the progress of a session. */
  show({ session, stage, events, total }: CopyProgress): void {
    const part = `${words[stage]} ${plain(session)}`;
    if (part !== this.#part) {
      this.#part = part;
      this.#done = 0;
      this.#progress.turnTo(part, total);
    }
    this.#progress.add(Math.max(0, events - this.#done));
    this.#done = events;
  }
}
