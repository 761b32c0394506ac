/** The recorders of this process with events that are not stored yet, by session. */
export class BusyRecorders {
  readonly #busy = new Map<string, Set<() => Promise<void>>>();

  /** Notes a recorder until it is idle. `settled` waits for the events that it has when it is called. */
  add(session: string, settled: () => Promise<void>, idle: Promise<void>): void {
    const busy = this.#busy.get(session) ?? new Set();
    // A recorder that is busy again at once is noted a second time, so each note is its own function.
    const noted = (): Promise<void> => settled();
    this.#busy.set(session, busy.add(noted));
    void idle.finally(() => {
      busy.delete(noted);
      if (busy.size === 0 && this.#busy.get(session) === busy) this.#busy.delete(session);
    });
  }

  /** Waits until the events that recorders have for a session now are stored, or were given up. */
  async settled(session: string): Promise<void> {
    await Promise.all([...(this.#busy.get(session) ?? [])].map((settled) => settled()));
  }
}
