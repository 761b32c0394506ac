import { expect } from 'vitest';
import { type JsonValue, RepriseError, type Session, type State, state } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';

/** One thing done to a session's state; numbers are scaled to what is there when it happens. */
export type StateCommand = readonly [
  kind:
    | 'commit'
    | 'replace'
    | 'insert'
    | 'revert'
    | 'revertRecent'
    | 'rewind'
    | 'rewindToTurn'
    | 'redo'
    | 'fork'
    | 'erase',
  branch: number,
  seq: number,
  choice: number,
];

const agents = ['default', 'a', 'a:b'];
const keys = ['k0', 'k1', 'k2', 'k3', 'shared'];

interface Held {
  readonly value: JsonValue;
  readonly version: number;
}

/** Does things to a session and holds what the key index gives against what folding every transaction gives. */
export class StateRun {
  readonly #session: Session;
  readonly #branches = ['main'];
  readonly #seen = new Map<string, string>();
  #count = 0;
  #hasErased = false;

  constructor(session: Session) {
    this.#session = session;
  }

  async run([kind, at, place, choice]: StateCommand): Promise<void> {
    const branch = this.#branches[at % this.#branches.length] as string;
    const { head } = await this.#session.branch(branch).locate();
    const seq = place % (head + 1);
    this.#count += 1;
    try {
      if (kind === 'commit') await this.#commit(this.#session.branch(branch).state, choice);
      else if (kind === 'replace') await this.#replace(branch, seq);
      else if (kind === 'insert') await this.#insert(branch, seq, choice);
      else if (kind === 'erase') await this.#erase(branch, seq);
      else if (kind === 'revert') await this.#session.branch(branch).revert(seq);
      else if (kind === 'revertRecent') await this.#session.branch(branch).revert(Math.max(0, head - (place % 6)));
      else if (kind === 'rewind') await this.#session.branch(branch).rewind(seq);
      else if (kind === 'rewindToTurn') await this.#session.branch(branch).rewind({ story: choice % 6 });
      else if (kind === 'redo') await this.#redo(branch);
      else await this.#fork(branch, seq, choice);
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error;
    }
    await this.#remember(branch);
  }

  #commit(handle: State, choice: number): Promise<unknown> {
    return handle.transaction(
      async (tx) => {
        const own = tx.as(agents[choice % agents.length] as string);
        const key = `k${choice % 4}`;
        const { value } = await own.get(key);
        if (choice % 5 === 0) own.delete(key);
        else own.write(key, { count: this.#count, was: value });
        if (choice % 3 === 0) tx.write('shared', this.#count);
        if (choice % 7 === 0) own.write(key, 'twice');
      },
      { turn: choice % 6 },
    );
  }

  async #replace(branch: string, seq: number): Promise<void> {
    const [event] = await all(this.#session.branch(branch).replay({ after: seq - 1, through: seq }));
    const operations = (event?.data['operations'] ?? []) as readonly { readonly op: string }[];
    const changed = operations.map((held) =>
      held.op === 'write' ? { ...held, value: `edited ${this.#count}` } : held,
    );
    await this.#session
      .branch(branch)
      .edit({ kind: 'replace', seq, event: { data: { operations: changed as never } } });
  }

  /** A commit whose number somebody made up. */
  async #insert(branch: string, after: number, choice: number): Promise<void> {
    const operation = { agent: 'a', key: `k${choice % 4}`, op: 'write', value: 'inserted', version: 1 + (choice % 5) };
    const event = { type: 'state.committed', data: { operations: [operation] } };
    await this.#session.branch(branch).edit({ kind: 'insert', after, event });
  }

  async #erase(branch: string, seq: number): Promise<void> {
    await this.#session.erase({ branch, seq });
    this.#hasErased = true;
  }

  /** A redo doubles no number: it brings back only what was double already, or before what it undoes. */
  async #redo(branch: string): Promise<void> {
    const { head } = await this.#session.branch(branch).locate();
    const { marker } = await this.#session.branch(branch).redo();
    const undone = Number(marker.data['target'] ?? Number(marker.data['to']) + 1);
    const before = new Set([
      ...(await this.#doubles({ branch, seq: head })),
      ...(await this.#doubles({ branch, seq: undone - 1 })),
    ]);
    const after = await this.#doubles({ branch, seq: marker.seq });
    expect(
      [...after].filter((double) => !before.has(double)),
      'numbers that redo doubled',
    ).toEqual([]);
  }

  /** The numbers that a key has more than once. */
  async #doubles(at: { readonly branch: string; readonly seq: number }): Promise<Set<string>> {
    const [seen, doubles] = [new Set<string>(), new Set<string>()];
    for await (const { operations } of this.#session.at(at).state.replay({ agent: null }))
      for (const { agent, key, version } of operations) {
        const number = JSON.stringify([agent, key, version]);
        if (seen.has(number)) doubles.add(number);
        seen.add(number);
      }
    return doubles;
  }

  async #fork(branch: string, seq: number, choice: number): Promise<void> {
    const name = `b${this.#count}`;
    const edits = choice % 2 === 0 ? [] : [{ kind: 'state' as const, key: 'shared', value: name }];
    await this.#session.at({ branch, seq }).fork({ name, edits });
    this.#branches.push(name);
  }

  /** Every point of every branch, and nothing that was seen before has changed. */
  async checkAll(): Promise<void> {
    for (const branch of this.#branches) {
      const { head } = await this.#session.branch(branch).locate();
      for (let seq = 0; seq <= head; seq++) {
        // A fold cannot use erased content.
        if (!this.#hasErased) await this.#checkPoint(branch, seq);
        for (const agent of agents) await this.#checkVersions(agent, { branch, seq });
      }
    }
    if (this.#hasErased) return;
    for (const [point, value] of this.#seen) expect(JSON.stringify(await this.#scan(point)), point).toBe(value);
  }

  async #checkPoint(branch: string, seq: number): Promise<void> {
    const at = { branch, seq };
    const projected = await this.#session.at(at).fold(state);
    for (const agent of agents) {
      const own = this.#session.at(at).state.as(agent);
      const held = new Map<string, Held>();
      for await (const { operations } of own.replay())
        for (const { op, key, value, version } of operations)
          if (op === 'delete') held.delete(key);
          else held.set(key, { value: value ?? null, version });
      const scanned = (await all(own.scan(''))).map(({ key, value, version }) => [key, { value, version }]);
      const expected = [...held].sort(([left], [right]) => (left < right ? -1 : 1));
      expect(scanned, `${agent} at ${branch}@${seq}`).toEqual(expected);
      const folded = Object.entries(projected[agent] ?? {}).map(([key, { value, version }]) => [
        key,
        { value, version },
      ]);
      expect(new Map(folded as never), `${agent} folded at ${branch}@${seq}`).toEqual(held);
      for (const [key, { value, version }] of held)
        expect(await own.get(key)).toMatchObject({ value, version, exists: true });
    }
  }

  /**
   * At a point, the history of a key is what replaying shows of it, its first item is what the key holds, and each number
   * is that of the first item that has it.
   */
  async #checkVersions(agent: string, point: { readonly branch: string; readonly seq: number }): Promise<void> {
    const own = this.#session.at(point).state.as(agent);
    for (const key of keys) {
      const what = `${agent}/${key} at ${point.branch}@${point.seq}`;
      const versions = await all(own.history(key));
      const numbers = versions.map(({ version }) => version);
      const known = versions.filter(({ erased }) => erased !== true).map(({ version, seq }) => [version, seq]);
      const replayed = (await all(own.replay())).flatMap(({ seq, operations }) =>
        operations.filter((held) => held.key === key).map(({ version }) => [version, seq]),
      );
      expect(known.reverse(), what).toEqual(replayed);
      const held = await own.get(key);
      expect([held.version, held.value, held.seq], what).toEqual(
        versions[0] === undefined ? [0, null, 0] : [versions[0].version, versions[0].value, versions[0].seq],
      );
      for (let version = 0; version <= Math.max(0, ...numbers) + 1; version++) {
        const shown = versions.find((one) => one.version === version);
        const { exists, value, seq, erased } = await own.get(key, { version });
        expect([exists, value, seq, erased], `${what} v${version} of ${numbers.join()}`).toEqual([
          shown?.exists ?? false,
          shown?.value ?? null,
          shown?.seq ?? 0,
          shown?.erased,
        ]);
      }
    }
  }

  async #remember(branch: string): Promise<void> {
    const { head } = await this.#session.branch(branch).locate();
    const point = `${branch}@${head}`;
    this.#seen.set(point, JSON.stringify(await this.#scan(point)));
  }

  #scan(point: string): Promise<unknown> {
    return Promise.all(agents.map((agent) => all(this.#session.at(point).state.as(agent).scan(''))));
  }
}
