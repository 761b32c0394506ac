import { limits } from '../../core/limits.ts';

/**
 * Remembers that a store keeps a recorder waiting. The agent waits for such a store once: then the breaker is open, and
 * nothing the agent does waits for the store until it takes events again. The recorder keeps trying meanwhile.
 */
export class StoreBreaker {
  #isOpen = false;
  /** Whether all tries were in vain: one try is then enough to see whether the store is back. */
  #isSpent = false;
  #onOpen: () => void = () => undefined;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** How often the recorder sends the same events now. */
  get attemptsMax(): number {
    return this.#isSpent ? 1 : limits.recordAttemptsMax;
  }

  /** Names the one who hears that the breaker opens. */
  onOpen(heard: () => void): void {
    this.#onOpen = heard;
  }

  /** Notes that the store used up its wait and took nothing. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#onOpen();
  }

  /** Notes that the last try was in vain as well. */
  spend(): void {
    this.#isSpent = true;
    this.open();
  }

  /** Notes that the store took events. */
  close(): void {
    this.#isOpen = false;
    this.#isSpent = false;
  }
}
