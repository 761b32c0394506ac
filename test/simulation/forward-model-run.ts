import fc from 'fast-check';
import { expect } from 'vitest';
import type { AgentTurn } from '../../src/fleet.ts';
import { type Event, openReprise, type Session } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';
import {
  claimText,
  eventText,
  type ForwardModel,
  type ModelAgent,
  type ModelInputs,
  type ModelRan,
} from './forward-model.ts';

const names = ['a', 'b', 'c', 'd', 'e'] as const;
const turnsMax = 5;

/** A fleet of which each agent sees its own topic and one more, the turn to fork at, and what is changed there. */
export const modelFleets = fc.record({
  sees: fc.array(fc.nat({ max: names.length - 1 }), { minLength: names.length, maxLength: names.length }),
  forkTurn: fc.integer({ min: 0, max: 3 }),
  change: fc.constantFrom('mutate', 'mutate', 'spawn', 'spawn later', 'both', 'nothing'),
  which: fc.nat({ max: names.length - 1 }),
});

type Made = typeof modelFleets extends fc.Arbitrary<infer Each> ? Each : never;

/** Says a digest of everything it is given, and now and then nothing. */
function digest({ did, sees }: ModelInputs, turn: number): string | undefined {
  let sum = turn + 1;
  for (const character of [...did, '|', ...sees].join()) sum = (Math.imul(sum, 31) + character.charCodeAt(0)) >>> 0;
  return sum % 3 === 0 ? undefined : `says ${sum % 7}`;
}

const agents: Readonly<Record<string, ModelAgent>> = Object.fromEntries(
  [...names, 'new'].map((name, index) => [name, { topic: `t${index % names.length}`, says: digest }]),
);

/** Returns an agent as the engine calls it. */
const asFunction =
  ({ topic, says }: ModelAgent) =>
  async ({ self, turn }: AgentTurn): Promise<void> => {
    const sees = (await self.beliefs.list())
      .map((belief) => claimText(belief.agent, belief.topic, belief.claim))
      .sort();
    const own = (await all(self.replay())).filter((e) => e.type === 'belief.committed' && e.agent === self.agent);
    const did = own
      .filter((event) => event.turn <= turn)
      .map((event) => claimText(event.agent, event.data['topic'], event.data['claim']));
    const claim = says({ did, sees }, turn);
    if (claim !== undefined) await self.beliefs.commit({ topic, claim });
  };

/** The engine in the words of a model. */
class EngineSide {
  readonly #session: Session;
  readonly #onTurn = Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, asFunction(agent)]));

  constructor(session: Session) {
    this.#session = session;
  }

  spawn(branch: string, agent: string, scope: readonly string[], fromTurn?: number): Promise<unknown> {
    return this.#session.branch(branch).spawn(agent, { scope, ...(fromTurn === undefined ? {} : { fromTurn }) });
  }

  mutate(branch: string, claim: { agent: string; topic: string; claim: string }): Promise<unknown> {
    return this.#session.branch(branch).mutate(claim);
  }

  fork(turn: number, name: string): Promise<unknown> {
    return this.#session.at({ story: turn }).fork({ name });
  }

  async standing(branch: string, turn: number): Promise<readonly string[]> {
    const held = await this.#session.branch(branch).at({ story: turn }).beliefs.list();
    return held.map(({ agent, topic, claim }) => claimText(agent, topic, claim)).sort();
  }

  async run(branch: string, reuseUnchanged: boolean): Promise<ModelRan> {
    const on = this.#session.branch(branch);
    const ran = await on.runForward({ untilTurn: turnsMax, onTurn: this.#onTurn, reuseUnchanged });
    expect(ran.stoppedBy).toBeUndefined();
    const byId = new Map<string, Event>();
    for await (const event of this.#session.at(branch).replay()) byId.set(event.id, event);
    const textOf = (id: string): string => {
      const event = byId.get(id);
      return event === undefined ? `unknown ${id}` : eventText(event);
    };
    return {
      live: ran.live.map(({ turn, agent, because }) => ({
        turn: `${turn} ${agent}`,
        because: because.map(textOf).sort(),
      })),
      reused: ran.reused.map(({ turn, agent }) => `${turn} ${agent}`),
    };
  }
}

/** Runs a fleet on the engine and on a model, and compares which turns ran, because of what, and what stands at every turn. */
export async function holdAgainst(model: ForwardModel, { sees, forkTurn, change, which }: Made): Promise<ModelRan> {
  await using reprise = await openReprise('memory:');
  const engine = new EngineSide(await reprise.createSession('forward'));
  const run = async (branch: string, reuseUnchanged: boolean): Promise<ModelRan> => {
    const ran = await engine.run(branch, reuseUnchanged);
    const expected = model.run(branch, { untilTurn: turnsMax, agents, reuseUnchanged });
    // Without an original there is nothing that a turn could be different from.
    const named = (from: ModelRan): ModelRan =>
      branch === 'main' ? { ...from, live: from.live.map(({ turn }) => ({ turn, because: [] })) } : from;
    expect(named(ran), `the turns of ${branch}`).toEqual(named(expected));
    for (let turn = 0; turn <= turnsMax; turn++)
      expect(await engine.standing(branch, turn), `${branch} at turn ${turn}`).toEqual(model.standing(branch, turn));
    return ran;
  };
  for (const [index, name] of names.entries()) {
    const scope = [`t${index}`, `t${sees[index] ?? 0}`];
    await engine.spawn('main', name, scope);
    model.spawn('main', name, scope);
  }
  await run('main', false);
  await engine.fork(forkTurn, 'what-if');
  model.fork(forkTurn, 'what-if');
  if (change === 'mutate' || change === 'both') {
    const claim = { agent: names[which] as string, topic: `t${which}`, claim: 'what if' };
    await engine.mutate('what-if', claim);
    model.mutate('what-if', claim);
  }
  if (change !== 'mutate' && change !== 'nothing') {
    const fromTurn = change === 'spawn' ? undefined : forkTurn + 2;
    await engine.spawn('what-if', 'new', ['t0', 't1'], fromTurn);
    model.spawn('what-if', 'new', ['t0', 't1'], fromTurn);
  }
  const ran = await run('what-if', true);
  if (change === 'nothing') expect(ran.live, 'nothing runs where nothing was changed').toEqual([]);
  return ran;
}
