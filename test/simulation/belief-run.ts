import fc from 'fast-check';
import { expect } from 'vitest';
import type { Belief } from '../../src/fleet.ts';
import { openReprise, RepriseError, type Session } from '../../src/index.ts';
import { BeliefModel, ModelRefusal } from './belief-model.ts';

const turn = fc.integer({ min: 0, max: 7 });
const scope = fc.constantFrom<readonly string[] | 'all'>([], ['x'], ['y'], 'all');
const pick = fc.nat({ max: 99 });
const claim = fc.record(
  {
    agent: fc.constantFrom('a', 'b', 'c'),
    topic: fc.constantFrom('x', 'x', 'x', 'y'),
    claim: fc.constantFrom('up', 'down', 'left', 'not up'),
    kind: fc.constantFrom('decision', 'decision', 'decision', 'fact'),
    value: fc.constantFrom(1, 2),
    trust: fc.constantFrom(0.2, 0.5, 0.9),
    turn,
  },
  { requiredKeys: ['agent', 'claim', 'kind', 'trust'] },
);

const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('commit' as const), on: pick, claim }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('revert' as const), on: pick, which: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('rewind' as const),
      on: pick,
      turn,
      only: fc.constantFrom('beliefs' as const, undefined),
      after: fc.constantFrom('stay', 'take back', 'go on, then take back'),
      claim,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rewindTo' as const), on: pick, which: pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fork' as const), on: pick, turn }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('change' as const), on: pick, scope, turn }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replace' as const), on: pick, which: pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mutate' as const), on: pick, claim, beside: fc.boolean() }) },
);

/** A random session: its rule, and what is done in it. */
export const beliefSessions = fc.record({
  strategy: fc.constantFrom('last-write-wins', 'highest-trust'),
  commands: fc.array(command, { minLength: 4, maxLength: 14 }),
});

type Commands = typeof beliefSessions extends fc.Arbitrary<infer Made> ? Made : never;
type Command = Commands['commands'][number];

const named = (beliefs: readonly Belief[]): string[] =>
  beliefs.map(({ id, replacedIds }) => replacedIds?.[0] ?? id).sort();

/** Runs a random session on a store and on the model, and compares every look after every change. */
export async function runBeliefs(url: string, { strategy, commands }: Commands): Promise<void> {
  await using reprise = await openReprise(url);
  const session = await reprise.createSession(`s-${Math.random()}`);
  const run = new BeliefRun(session, new BeliefModel(strategy));
  await run.begin(strategy);
  for (const each of commands) {
    await run.doBoth(each);
    await run.compareHeads();
  }
  await run.comparePast();
}

class BeliefRun {
  readonly #session: Session;
  readonly #model: BeliefModel;
  #count = 0;

  constructor(session: Session, model: BeliefModel) {
    this.#session = session;
    this.#model = model;
  }

  async begin(strategy: string): Promise<void> {
    await this.#session.beliefs.setStrategy(strategy);
    this.#model.note('main');
    await this.#session.spawn('a', { scope: ['x'] });
    this.#model.spawn('main', 'a', ['x']);
  }

  async doBoth(each: Command): Promise<void> {
    const names = [...this.#model.branches.keys()];
    const branch = names[each.on % names.length] as string;
    const refused = await outcome(() => this.#onModel(branch, each));
    const also = await outcome(() => this.#onEngine(branch, each));
    expect(also, JSON.stringify(each)).toBe(refused);
  }

  /** The ids of claims in the view, by those they had first. */
  #claims(branch: string): readonly string[] {
    return this.#model
      .view(branch)
      .filter(({ type }) => type === 'belief.committed')
      .map(({ ids }) => ids[0] as string);
  }

  #planned: (() => Promise<unknown>) | undefined;

  /** Does a change on the model, and keeps what it means on the engine. */
  #onModel(branch: string, each: Command): void {
    const [model, session] = [this.#model, this.#session];
    const beliefs = session.branch(branch).beliefs;
    const id = `c${++this.#count}`;
    switch (each.do) {
      case 'commit':
        this.#planned = () => beliefs.commit({ ...each.claim, id } as never);
        return model.commit(branch, { ...each.claim, id });
      case 'mutate': {
        const { beside } = each;
        this.#planned = () => session.branch(branch).mutate({ ...each.claim, id, beside } as never);
        return model.commit(branch, { ...each.claim, id, beside }, true);
      }
      case 'revert': {
        const claims = this.#claims(branch);
        const target = claims[each.which % Math.max(1, claims.length)] ?? 'none';
        this.#planned = () => beliefs.revert(target);
        return model.revert(branch, target);
      }
      case 'replace': {
        const claims = this.#claims(branch);
        const target = claims[each.which % Math.max(1, claims.length)] ?? 'none';
        this.#planned = () => this.#replace(branch, target);
        return model.replace(branch, target, { claim: 'other' });
      }
      case 'rewindTo': {
        // The rule is the first event: a rewind behind it would take it back.
        const to = 1 + (each.which % model.head(branch));
        this.#planned = () => session.branch(branch).rewind(to);
        return model.rewindTo(branch, to);
      }
      case 'change':
        this.#planned = () => session.branch(branch).fleet.change('a', { scope: each.scope, turn: each.turn });
        return model.change(branch, 'a', each.scope, each.turn);
      case 'fork':
        this.#planned = () => session.at({ branch, story: each.turn }).fork({ name: id });
        return model.fork(branch, each.turn, id);
      case 'rewind':
        return this.#rewindBoth(branch, each, id);
    }
  }

  #rewindBoth(
    branch: string,
    { turn: to, only, after, claim: said }: Extract<Command, { do: 'rewind' }>,
    id: string,
  ): void {
    const [model, session] = [this.#model, this.#session];
    const added = { ...said, id };
    const marker = model.rewind(branch, { turn: to, only });
    if (after === 'go on, then take back') model.commit(branch, added);
    if (after !== 'stay') model.unrewind(branch, marker);
    this.#planned = async () => {
      await session.branch(branch).rewind({ story: to }, only === undefined ? {} : { only });
      if (after === 'go on, then take back') await session.branch(branch).beliefs.commit(added as never);
      if (after !== 'stay') await session.branch(branch).redo();
    };
  }

  async #replace(branch: string, target: string): Promise<unknown> {
    for await (const event of this.#session.at(branch).replay()) {
      if (event.id !== target && event.replacedIds?.includes(target) !== true) continue;
      const belief = { ...event.data, claim: 'other' };
      return this.#session.branch(branch).edit({ kind: 'belief', seq: event.seq, belief });
    }
    throw new ModelRefusal('not in the view');
  }

  async #onEngine(_branch: string, _each: Command): Promise<unknown> {
    return this.#planned?.();
  }

  async compareHeads(): Promise<void> {
    for (const branch of this.#model.branches.keys()) {
      const on = this.#session.branch(branch);
      expect((await on.locate()).head, `the head of ${branch}`).toBe(this.#model.head(branch));
      for (const at of [undefined, 0, 2, 4, 6]) await this.#compare(branch, at === undefined ? {} : { turn: at });
    }
  }

  /** Compares every seq of every branch: nothing that came later has changed an earlier look. */
  async comparePast(): Promise<void> {
    for (const branch of this.#model.branches.keys())
      for (let seq = 0; seq <= this.#model.head(branch); seq++)
        for (const at of [{}, { turn: 3 }]) await this.#compare(branch, { seq, ...at });
  }

  async #compare(branch: string, look: { readonly seq?: number; readonly turn?: number }): Promise<void> {
    const on = this.#session.branch(branch);
    const where = `${branch} ${JSON.stringify(look)}`;
    const { seq, turn } = look;
    const place = { ...(seq === undefined ? {} : { seq }), ...(turn === undefined ? {} : { story: turn }) };
    const at = Object.keys(place).length === 0 ? on : on.at(place);
    expect(named(await at.beliefs.list()), where).toEqual(this.#model.beliefsAt(branch, look));
    const seen = await at.as('a').beliefs.list();
    expect(named(seen), `${where} as a`).toEqual(this.#model.beliefsAt(branch, { ...look, as: 'a' }));
  }
}

async function outcome(run: () => unknown): Promise<'done' | 'refused'> {
  try {
    await run();
    return 'done';
  } catch (error) {
    if (error instanceof ModelRefusal || error instanceof RepriseError) return 'refused';
    throw error;
  }
}
