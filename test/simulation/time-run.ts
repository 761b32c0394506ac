import { expect } from 'vitest';
import { type EventDraft, RepriseError, type Session } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';

/** One thing done to a session whose clocks may do anything; numbers are scaled to what is there when it happens. */
export type TimeCommand = readonly [
  kind: 'append' | 'fork' | 'rewind' | 'revert' | 'redo' | 'replace',
  branch: number,
  seq: number,
  clock: 'rises' | 'stands' | 'goes back' | 'leaps' | 'is lost',
];

const start = Date.parse('2026-11-15T10:00:00.000Z');
const iso = (second: number): string => new Date(start + second * 1_000).toISOString();

/** Does things to a session, and holds where times and turns are found against looking at every event from the first. */
export class TimeRun {
  readonly #session: Session;
  readonly #branches = ['main'];
  #second = 0;
  #turn = 0;
  #count = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  async run([kind, at, place, clock]: TimeCommand): Promise<void> {
    const branch = this.#branches[at % this.#branches.length] as string;
    const { head } = await this.#session.branch(branch).locate();
    const seq = place % (head + 1);
    this.#count += 1;
    this.#move(clock, place);
    try {
      // As many as it takes for a store to halve them, or a few.
      if (kind === 'append') await this.#session.branch(branch).append(this.#events(place % 3 === 0 ? 45 : 2));
      else if (kind === 'revert') await this.#session.branch(branch).revert(seq);
      else if (kind === 'rewind') await this.#session.branch(branch).rewind(seq, { turn: place % 9 });
      else if (kind === 'redo') await this.#session.branch(branch).redo();
      else if (kind === 'replace')
        await this.#session.branch(branch).edit({ kind: 'replace', seq, event: { data: { text: 'other' } } });
      else {
        const name = `b${this.#count}`;
        await this.#session.at({ branch, seq }).fork({ name });
        this.#branches.push(name);
      }
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error;
    }
  }

  #move(clock: TimeCommand[3], by: number): void {
    if (clock === 'rises') this.#second += 1 + (by % 5);
    else if (clock === 'goes back') this.#second -= by % 40;
    else if (clock === 'leaps') this.#second += 100 + by;
    else if (clock === 'is lost') this.#second = -3_000 + by;
    this.#turn = clock === 'goes back' ? Math.max(0, this.#turn - (by % 4)) : this.#turn + (by % 2);
  }

  #events(count: number): EventDraft[] {
    return Array.from({ length: count }, (_, index) => ({
      type: 'note.added',
      time: iso(this.#second + (index % 7)),
      turn: this.#turn + (index % 3),
      data: { text: `${this.#count}/${index}` },
    }));
  }

  /** The point of every time and turn there is, and of those just beside them, on every branch. */
  async checkAll(): Promise<void> {
    for (const branch of this.#branches) {
      const events = await all(this.#session.branch(branch).replay({ history: 'raw' }));
      const head = events.at(-1)?.seq ?? 0;
      const seconds = new Set(events.flatMap(({ time }) => [Date.parse(time) - 1, Date.parse(time)]));
      for (const ms of seconds) {
        const time = new Date(ms).toISOString();
        const first = events.find((event) => event.time > time);
        const { seq } = await this.#session.at({ branch, time }).locate();
        expect(seq, `${branch}@time:${time}`).toBe(first === undefined ? head : first.seq - 1);
      }
      for (const turn of new Set(events.flatMap((event) => [event.turn, event.turn + 1]))) {
        const first = events.find((event) => event.turn > turn && !/^branch\.|^event\./.test(event.type));
        const { seq } = await this.#session.at({ branch, turn }).locate();
        expect(seq, `${branch}@turn:${turn}`).toBe(first === undefined ? head : first.seq - 1);
      }
    }
  }
}
