import { expect } from 'vitest';
import { defineProjection, type EventDraft, RepriseError, type Session } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';
import { type ModelEntry, Refused, ViewModel } from './view-model.ts';

/** One thing done to a history whose events lead to each other; numbers are scaled to what is there when it happens. */
export type CauseCommand = readonly [
  kind: 'note' | 'call' | 'belief' | 'supersede' | 'replace' | 'revert' | 'redo' | 'rewind' | 'fork' | 'state',
  branch: number,
  pick: number,
  cascade: boolean,
];

/** An ordinary event in the model, by its text. */
interface Fact {
  readonly id: string;
  readonly cause?: string;
  readonly call?: string;
  readonly isBelief?: boolean;
  /** Whether it goes with the belief that led to it. */
  readonly isKin?: boolean;
}

const seqs = defineProjection<number[]>({
  name: 'seqs',
  version: '1',
  history: 'view',
  initial: () => [],
  apply: (value, event) => [...value, event.seq],
});

/** Does the same to a session and to the model, and holds what went and what stayed against each other. */
export class CauseRun {
  readonly model = new ViewModel();
  readonly #session: Session;
  /** The event that a seq of a branch stores, as the model knows it. */
  readonly #facts = new Map<string, Fact>();
  #count = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  async run([kind, at, pick, cascade]: CauseCommand): Promise<void> {
    const names = [...this.model.branches.keys()];
    const branch = names[at % names.length] as string;
    this.#count += 1;
    const entries = this.model.view(branch);
    const entry = entries[pick % Math.max(1, entries.length)];
    if (kind === 'revert') await this.#revert(branch, entry, cascade);
    else if (kind === 'replace') await this.#replace(branch, entry);
    else if (kind === 'redo') await this.#redo(branch);
    else if (kind === 'rewind') await this.#rewind(branch, pick % (this.model.head(branch) + 1));
    else if (kind === 'fork') await this.#fork(branch, pick % (this.model.head(branch) + 1));
    else if (kind === 'state') await this.#state(branch);
    else await this.#append(branch, kind, entry);
    await this.#check(branch);
  }

  #factOf(branch: string, entry: ModelEntry): Fact {
    const [first] = entry.answers;
    const stored = this.model.raw(branch, this.model.head(branch)).find((event) => event.seq === first);
    return this.#facts.get(stored?.text ?? '') as Fact;
  }

  async #append(branch: string, kind: CauseCommand[0], entry: ModelEntry | undefined): Promise<void> {
    const cause = entry === undefined ? undefined : this.#factOf(branch, entry).id;
    const call = { call: `c${this.#count}`, kind: 'tool', name: 't' };
    const led = cause === undefined ? {} : { cause };
    if (kind === 'call') {
      await this.#add(branch, { type: 'call.started', ...led, data: call }, { call: call.call });
      await this.#add(branch, { type: 'call.ended', data: { ...call, outcome: 'ok' } }, { call: call.call });
    } else if (kind === 'belief') {
      // Each claim has a topic of its own: what comes back has nothing to be settled against.
      const data = { claim: 'so', topic: `t${this.#count}` };
      await this.#add(branch, { type: 'belief.committed', ...led, data }, { isBelief: true });
    } else if (kind === 'supersede' && cause !== undefined)
      await this.#add(branch, { type: 'belief.superseded', ...led, data: { belief: cause } }, { isKin: true });
    else await this.#add(branch, { type: 'note.added', ...led, data: { text: 'n' } }, {});
  }

  async #add(branch: string, draft: EventDraft, fact: Omit<Fact, 'id' | 'cause'>): Promise<void> {
    const id = `id-${this.#facts.size}`;
    const [event] = await this.#session.branch(branch).append({ ...draft, id });
    this.model.add(branch, id, event?.turn);
    this.#facts.set(id, { id, ...fact, ...(draft.cause === undefined ? {} : { cause: draft.cause }) });
  }

  /** The obvious closure: whatever belongs to what goes, until nothing more is found. */
  #goesWith(branch: string, target: ModelEntry, cascade: boolean): { gone: Set<ModelEntry>; dependents: number[] } {
    const entries = this.model.view(branch).map((entry) => ({ entry, fact: this.#factOf(branch, entry) }));
    const gone = new Set<ModelEntry>(entries.filter(({ entry }) => entry.seq === target.seq).map(({ entry }) => entry));
    const goes = ({ entry, fact }: (typeof entries)[number]): boolean =>
      entries.some(
        (other) =>
          gone.has(other.entry) &&
          ((fact.call !== undefined && fact.call === other.fact.call) ||
            (fact.cause === other.fact.id && (cascade || (other.fact.isBelief === true && fact.isKin === true)))) &&
          !gone.has(entry),
      );
    for (let more = true; more; ) {
      const next = entries.filter(goes);
      for (const { entry } of next) gone.add(entry);
      more = next.length > 0;
    }
    const ids = new Set(entries.filter(({ entry }) => gone.has(entry)).map(({ fact }) => fact.id));
    const dependents = entries.filter(({ entry, fact }) => !gone.has(entry) && ids.has(fact.cause ?? ''));
    return { gone, dependents: dependents.map(({ entry }) => entry.seq) };
  }

  async #revert(branch: string, entry: ModelEntry | undefined, cascade: boolean): Promise<void> {
    if (entry === undefined) return;
    const { gone, dependents } = this.#goesWith(branch, entry, cascade);
    const point = { branch, seq: entry.answers[0] as number };
    const looked = await this.#session.branch(branch).counterfactual(seqs, { exclude: [point.seq], cascade });
    const reverted = await this.#session.branch(point.branch).revert(point.seq, { cascade });
    const expected = [...gone].map((held) => held.answers[0] as number).sort((a, b) => a - b);
    expect(reverted.marker.data['seqs'], `revert of ${branch}@${point.seq}`).toEqual(expected);
    expect([...reverted.dependents].sort((a, b) => a - b)).toEqual(dependents.sort((a, b) => a - b));
    expect([looked.excluded, looked.dependents]).toEqual([expected, reverted.dependents]);
    this.model.revertAll(branch, expected);
    expect(looked.value).toEqual(this.model.view(branch).map((held) => held.seq));
  }

  async #replace(branch: string, entry: ModelEntry | undefined): Promise<void> {
    if (entry === undefined) return;
    await this.#session.branch(branch).edit({ kind: 'replace', seq: entry.seq, event: {} });
    this.model.replace(branch, entry.seq, '');
  }

  async #redo(branch: string): Promise<void> {
    let expected = 'done';
    try {
      this.model.redo(branch);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      expected = 'refused';
    }
    const actual = await this.#session
      .branch(branch)
      .redo()
      .then(
        () => 'done',
        (error: unknown) => (error instanceof RepriseError ? 'refused' : Promise.reject(error)),
      );
    expect(actual, `redo on ${branch}`).toBe(expected);
  }

  async #rewind(branch: string, seq: number): Promise<void> {
    await this.#session.branch(branch).rewind(seq);
    this.model.rewind(branch, seq);
  }

  async #fork(branch: string, seq: number): Promise<void> {
    await this.#session.at({ branch, seq }).fork({ name: `b${this.#count}` });
    this.model.fork(branch, seq, `b${this.#count}`);
  }

  /** The next version is one more than that of the last write in the view. */
  async #state(branch: string): Promise<void> {
    const events = await all(this.#session.branch(branch).replay({ filter: { types: ['state.committed'] } }));
    const { marker } = await this.#session.branch(branch).edit({ kind: 'state', key: 'k', value: this.#count });
    const version = (operations: unknown): number => (operations as { version: number }[])[0]?.version ?? 0;
    expect(version(marker.data['operations'])).toBe(version(events.at(-1)?.data['operations'] ?? []) + 1);
    this.#facts.set(marker.id, { id: marker.id });
    this.model.add(branch, marker.id, marker.turn);
  }

  async #check(branch: string): Promise<void> {
    const expected = this.model.view(branch).map((entry) => entry.seq);
    expect(await this.#session.branch(branch).fold(seqs), branch).toEqual(expected);
    expect(await this.#session.branch(branch).fold(seqs, { snapshots: false }), branch).toEqual(expected);
    expect((await this.#session.branch(branch).verify()).ok).toBe(true);
  }
}
