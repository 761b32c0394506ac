import { expect } from 'vitest';
import {
  type Branch,
  defineProjection,
  type Event,
  type Reprise,
  RepriseError,
  type Session,
} from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';
import { Refused, ViewModel } from './view-model.ts';

/** One thing done to a session; numbers are scaled to what is there when it happens. */
export type Command = readonly [
  kind:
    | 'add'
    | 'replace'
    | 'insert'
    | 'revert'
    | 'rewind'
    | 'rewindToTurn'
    | 'redo'
    | 'fork'
    | 'erase'
    | 'append'
    | 'several',
  branch: number,
  seq: number,
  turn: number,
];

/** Every text of a view, with a hole where one was erased. */
const texts = defineProjection<string[]>({
  name: 'texts',
  history: 'view',
  initial: () => [],
  apply: (value, event) => [...value, textOf(event)],
});

/** A value that depends on the order of everything before it, small enough that snapshots are kept. */
const mixed = defineProjection<number>({
  name: 'mixed',
  version: '1',
  history: 'view',
  initial: () => 7,
  apply: (value, event) => (value * 31 + [...textOf(event)].reduce((sum, c) => sum + c.charCodeAt(0), 0)) % 1_000_003,
});

function textOf(event: Event): string {
  return event.erased === true ? 'erased' : String(event.data['text']);
}

const nameOf = (count: number): string => `text number ${count} of this run`;

/** Does the same to the real thing and to the model, and holds one against the other. */
export class SessionRun {
  readonly model = new ViewModel();
  readonly #session: Session;
  readonly #reprise: Reprise;
  readonly #seen = new Map<string, string>();
  #count = 0;

  constructor(reprise: Reprise, session: Session) {
    this.#reprise = reprise;
    this.#session = session;
  }

  async run(command: Command): Promise<void> {
    const names = [...this.model.branches.keys()];
    const branch = names[command[1] % names.length] as string;
    const head = this.model.head(branch);
    const seq = command[2] % (head + 2);
    const turn = command[3] % 6;
    this.#count += 1;
    const expected = this.#onModel(command[0], branch, seq, turn);
    const actual = await this.#onSession(command[0], branch, seq, turn);
    expect(actual, `${command[0]} on ${branch}@${seq} (turn ${turn})`).toBe(expected);
    const now = this.model.head(branch);
    this.#seen.set(`${branch}@${now}`, JSON.stringify(await this.#session.at({ branch, seq: now }).fold(mixed)));
  }

  #onModel(kind: Command[0], branch: string, seq: number, turn: number): 'done' | 'refused' {
    const text = nameOf(this.#count);
    try {
      if (kind === 'add') this.model.add(branch, text, turn < 3 ? undefined : turn);
      else if (kind === 'replace') this.model.replace(branch, seq, text);
      else if (kind === 'insert') this.model.insert(branch, seq, text);
      else if (kind === 'revert') this.model.revert(branch, seq);
      else if (kind === 'rewind') this.model.rewind(branch, seq);
      else if (kind === 'rewindToTurn') this.model.rewindToTurn(branch, turn);
      else if (kind === 'redo') this.model.redo(branch);
      else if (kind === 'append') this.model.edit(() => this.model.add(branch, text));
      else if (kind === 'several')
        this.model.edit(() => {
          this.model.revert(branch, seq);
          this.model.add(branch, text);
        });
      else if (kind === 'fork')
        this.model.fork(
          branch,
          seq,
          `b${this.#count}`,
          turn < 3
            ? []
            : [
                ['replace', Math.max(1, seq - 1), text],
                ['drop', seq, ''],
              ],
        );
      else this.model.erase(branch, seq);
      return 'done';
    } catch (error) {
      if (error instanceof Refused) return 'refused';
      throw error;
    }
  }

  async #onSession(kind: Command[0], branch: string, seq: number, turn: number): Promise<'done' | 'refused'> {
    const text = nameOf(this.#count);
    const note = { type: 'note.added', data: { text } };
    try {
      if (kind === 'add') await this.#session.branch(branch).append(turn < 3 ? note : { ...note, turn });
      else if (kind === 'replace') await this.#session.branch(branch).edit({ kind: 'replace', seq, event: note });
      else if (kind === 'insert') await this.#session.branch(branch).edit({ kind: 'insert', after: seq, event: note });
      else if (kind === 'revert') await this.#session.branch(branch).revert(seq);
      else if (kind === 'rewind') await this.#session.branch(branch).rewind(seq);
      else if (kind === 'rewindToTurn') await this.#session.branch(branch).rewind({ story: turn });
      else if (kind === 'redo') await this.#session.branch(branch).redo();
      else if (kind === 'append') await this.#session.branch(branch).edit({ kind: 'append', event: note });
      else if (kind === 'several')
        await this.#session.branch(branch).edit([
          { kind: 'drop', seq },
          { kind: 'append', event: note },
        ]);
      else if (kind === 'fork') await this.#fork(branch, seq, turn, note);
      else await this.#session.erase({ branch, seq });
      return 'done';
    } catch (error) {
      if (error instanceof RepriseError) return 'refused';
      throw error;
    }
  }

  #fork(
    branch: string,
    seq: number,
    turn: number,
    event: { readonly type: string; readonly data: { readonly text: string } },
  ): Promise<Branch> {
    const edits =
      turn < 3
        ? []
        : [
            { kind: 'replace' as const, seq: Math.max(1, seq - 1), event },
            { kind: 'drop' as const, seq },
          ];
    return this.#session.at({ branch, seq }).fork({ name: `b${this.#count}`, edits });
  }

  /** Every point of every branch: its view, its replay, its state with and without snapshots, and its chain. */
  async checkAll(): Promise<void> {
    for (const branch of this.model.branches.keys()) {
      for (let seq = 0; seq <= this.model.head(branch); seq++) await this.#checkPoint(branch, seq);
      expect(await this.#session.branch(branch).verify()).toMatchObject({
        ok: true,
        events: this.model.head(branch),
      });
      await this.#checkCopy(branch);
    }
    await this.#checkThePast();
  }

  async #checkPoint(branch: string, seq: number): Promise<void> {
    const expected = this.model.view(branch, seq);
    const said = expected.map((entry) => (this.model.forgotten.has(entry.text) ? 'erased' : entry.text));
    const at = { branch, seq };
    const events = await all(this.#session.at(at).replay());
    expect(
      events.map((event) => event.seq),
      `seqs at ${branch}@${seq}`,
    ).toEqual(expected.map((entry) => entry.seq));
    expect(
      events.map((event) => event.turn),
      `turns at ${branch}@${seq}`,
    ).toEqual(expected.map((entry) => entry.turn));
    expect(await this.#session.at(at).fold(texts), `texts at ${branch}@${seq}`).toEqual(said);
    const backward = await all(this.#session.at(at).replay({ direction: 'backward' }));
    expect(backward.map((event) => event.seq)).toEqual(expected.map((entry) => entry.seq).reverse());
    const folded = events.reduce((value, event) => mixed.apply(value, event), mixed.initial());
    expect(await this.#session.at(at).fold(mixed), `fold at ${branch}@${seq}`).toBe(folded);
    expect(await this.#session.at(at).fold(mixed, { snapshots: false })).toBe(folded);
    const raw = await all(this.#session.at(at).replay({ history: 'raw' }));
    expect(raw.map((event) => event.seq)).toEqual(this.model.raw(branch, seq).map((event) => event.seq));
  }

  /** Reading a branch gives what reading a copy of its events in a session of its own gives. */
  async #checkCopy(branch: string): Promise<void> {
    const events = await all(this.#session.branch(branch).replay());
    const copy = await this.#reprise.createSession();
    if (events.length > 0)
      await copy.append(
        events.map(({ type, turn, data, erased }) => ({ type: erased === true ? 'test.erased' : type, turn, data })),
      );
    const copied = await all(copy.replay());
    expect(copied.map((event) => event.data)).toEqual(events.map((event) => event.data));
  }

  /** Nothing done later changed what an earlier point gives; erased payloads excepted. */
  async #checkThePast(): Promise<void> {
    if (this.model.forgotten.size > 0) return;
    for (const [point, value] of this.#seen) {
      const [branch = '', seq] = point.split('@');
      expect(JSON.stringify(await this.#session.at({ branch, seq: Number(seq) }).fold(mixed)), point).toBe(value);
    }
  }
}
