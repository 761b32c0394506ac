import type { PartInput } from '../../src/core/parts/parts.ts';
import type { Digest, Seq } from '../../src/core/point.ts';
import type { Condition } from '../../src/core/store/append-request.ts';
import type {
  AppendOutcome,
  AppendRequest,
  EventInput,
  EventStore,
  Platform,
} from '../../src/core/store/event-store.ts';

export const namespace = 'random';

/** A request of a writer and the answer to it; the times are those of the machine, for all processes alike. */
export interface Told {
  readonly asked: AppendRequest;
  readonly began: number;
  readonly ended: number;
  /** `ok`, `known`, or why it was refused. */
  readonly code: string;
  readonly events: readonly { readonly id: string; readonly seq: number; readonly digest: string }[];
}

export interface RandomWriterOptions {
  readonly platform: Platform;
  /** Tells one writer from the others; all it does follows from this and from what the others do meanwhile. */
  readonly name: string;
  readonly sessions: readonly string[];
  readonly isForking: boolean;
  readonly until: () => boolean;
}

/** A small generator of numbers (mulberry32), so that a run can be begun again. */
export function randomOf(seed: string): (below: number) => number {
  let state = 0;
  for (const char of seed) state = (Math.imul(state, 31) + char.charCodeAt(0)) | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** On a busy machine, time alone may not be enough for everything to happen. */
const toldMin = 200;

export const now = (): number => performance.timeOrigin + performance.now();

/** Appends to some sessions at random, in bursts, and returns the answers. */
export async function writeRandomly(store: EventStore, options: RandomWriterOptions): Promise<Told[]> {
  const writer = new RandomWriter(store, options);
  while (!options.until() || writer.told.length < toldMin) await writer.burst();
  return writer.told;
}

class RandomWriter {
  readonly told: Told[] = [];
  readonly #store: EventStore;
  readonly #options: RandomWriterOptions;
  readonly #random: (below: number) => number;
  /** The heads it was last told, right or not. */
  readonly #heads = new Map<string, number>();
  readonly #branches = new Map<string, string[]>();
  readonly #points = new Map<string, { readonly branch: string; readonly seq: Seq; readonly digest: string }[]>();
  #ids = 0;

  constructor(store: EventStore, options: RandomWriterOptions) {
    this.#store = store;
    this.#options = options;
    this.#random = randomOf(options.name);
  }

  async burst(): Promise<void> {
    const count = this.#random(8) === 0 ? 40 + this.#random(60) : 1 + this.#random(4);
    const requests = Array.from({ length: count }, () => this.#request());
    const began = now();
    const outcomes = await this.#store.append(requests);
    const ended = now();
    for (const [index, asked] of requests.entries()) {
      const outcome = outcomes[index] as AppendOutcome;
      const code = outcome.ok ? (outcome.known ? 'known' : 'ok') : outcome.error.code;
      const events = outcome.ok ? outcome.events.map(({ id, seq, digest }) => ({ id, seq, digest })) : [];
      this.told.push({ asked, began, ended, code, events });
      const last = events.at(-1);
      if (last === undefined) continue;
      this.#learn(asked.session, asked.target.branch, last.seq);
      const points = this.#points.get(asked.session) ?? [];
      points.push({ branch: asked.target.branch, seq: last.seq as Seq, digest: last.digest });
      this.#points.set(asked.session, points);
    }
  }

  #learn(session: string, branch: string, head: number): void {
    const place = `${session} ${branch}`;
    this.#heads.set(place, Math.max(head, this.#heads.get(place) ?? 0));
    const branches = this.#branches.get(session) ?? ['main'];
    if (!branches.includes(branch)) branches.push(branch);
    this.#branches.set(session, branches);
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[this.#random(values.length)] as Value;
  }

  #request(): AppendRequest {
    const session = this.#pick(this.#options.sessions);
    const branch = this.#pick(this.#branches.get(session) ?? ['main']);
    const head = this.#heads.get(`${session} ${branch}`) ?? 0;
    const base = { namespace, session, parts: [], condition: { kind: 'any' } as Condition };
    switch (this.#random(16)) {
      case 0:
        return this.#again() ?? { ...base, target: { kind: 'branch', branch }, events: [this.#note(session)] };
      case 1:
        return this.#fork(session) ?? { ...base, target: { kind: 'branch', branch }, events: [this.#note(session)] };
      case 2: {
        const to = this.#random(head + 1);
        const data = JSON.stringify({ to });
        return {
          ...base,
          condition: { kind: 'head', seq: head as Seq },
          target: { kind: 'branch', branch },
          events: [{ ...this.#note(session), type: 'branch.rewound', data }],
        };
      }
      case 3:
      case 4: {
        const part = this.#part();
        const data = JSON.stringify({ text: { $part: part.digest } });
        return {
          ...base,
          parts: [part],
          target: { kind: 'branch', branch },
          events: [{ ...this.#note(session), data }],
        };
      }
      case 5:
      case 6: {
        const condition: Condition = { kind: 'head', seq: head as Seq };
        return { ...base, condition, target: { kind: 'branch', branch }, events: [this.#note(session)] };
      }
      case 7:
      case 8: {
        const since = Math.max(0, head - this.#random(3)) as Seq;
        const condition: Condition = { kind: 'unchanged', since, keys: [this.#key()], prefixes: [] };
        return { ...base, condition, target: { kind: 'branch', branch }, events: [this.#note(session)] };
      }
      default: {
        const events = Array.from({ length: 1 + this.#random(3) }, () => this.#note(session));
        return { ...base, target: { kind: 'branch', branch }, events };
      }
    }
  }

  /** An append that was made before, whatever became of it. */
  #again(): AppendRequest | undefined {
    return this.told.length === 0 ? undefined : this.#pick(this.told).asked;
  }

  #fork(session: string): AppendRequest | undefined {
    const points = this.#points.get(session) ?? [];
    // A point of a session that was deleted meanwhile is not a point to fork the next one at.
    if (points.length === 0 || !this.#options.isForking) return undefined;
    const { branch: parent, seq, digest } = this.#pick(points);
    // Names that others choose too.
    const branch = `b${this.#random(12)}`;
    const data = JSON.stringify({ parent: { digest, seq } });
    const forked = { ...this.#note(session), type: 'branch.forked', data, keys: [] };
    const target = { kind: 'fork', branch, parent: { branch: parent, seq } } as const;
    return { namespace, session, target, events: [forked, this.#note(session)], parts: [], condition: { kind: 'any' } };
  }

  #note(session: string): EventInput {
    this.#ids++;
    const id = `${this.#options.name}-${this.#ids}`;
    const data = JSON.stringify({ text: `${session} ${id}` });
    const time = new Date(1_800_000_000_000 + this.#random(1_000_000)).toISOString();
    const cause = this.#random(6) === 0 ? this.told.at(-1)?.events.at(0)?.id : undefined;
    const keys = this.#random(3) === 0 ? [this.#key()] : [];
    return { id, time, type: 'note.added', version: 1, data, keys, ...(cause === undefined ? {} : { cause }) };
  }

  #key(): string {
    return `state\u0001k${this.#random(3)}`;
  }

  /** One of a few that all sessions have in common. */
  #part(): PartInput {
    const text = JSON.stringify('part '.repeat(200 + this.#random(10)));
    return { digest: this.#options.platform.sha256(text) as Digest, kind: 'value', salt: null, text, refs: [] };
  }
}
