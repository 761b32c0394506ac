/** Runs forward at their edges: what is repeated is what was done, every reason is named, and one run drives a branch. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentTurn } from '../../src/fleet.ts';
import { openReprise, type Reprise, type Session } from '../../src/index.ts';
import { all, note } from '../verbs/verb-case.ts';

let reprise: Reprise;
let session: Session;

beforeEach(async () => {
  reprise = await openReprise('memory:');
  session = await reprise.createSession('demo');
});
afterEach(() => reprise.close());

type Fleet = Readonly<Record<string, (turn: AgentTurn) => unknown>>;

/** An agent that says on its topic what it sees. */
const telling =
  (topic: string) =>
  async ({ self, turn }: AgentTurn): Promise<unknown> => {
    const seen = (await self.beliefs.list()).map(({ claim }) => claim).sort();
    return self.beliefs.commit({ topic, claim: `in turn ${turn}: ${seen.join(', ')}` });
  };

const claims = async (branch = 'main'): Promise<readonly string[]> =>
  (await session.branch(branch).beliefs.list()).map(({ claim }) => claim).sort();

async function reusing(onTurn: Fleet, untilTurn: number) {
  return session.branch('x').runForward({ untilTurn, onTurn, reuseUnchanged: true });
}

/** Returns the types of the events that made a turn run. */
async function reasonsOf({ because }: { readonly because: readonly string[] } | undefined = { because: [] }) {
  const events = await all(session.at('x').replay({ history: 'raw' }));
  return because.map((id) => events.find((event) => event.id === id)?.type);
}

describe('a repeated turn', () => {
  test.each<[string, Fleet[string]]>([
    [
      'told to a recorder is told again, and nobody settles it',
      ({ recorder, agent }) =>
        recorder.event({ type: 'belief.committed', data: { topic: 't', kind: 'decision', claim: `by ${agent}` } }),
    ],
    [
      'put beside others stands beside them again',
      ({ self, agent }) => self.beliefs.commit({ topic: 't', claim: `by ${agent}`, beside: true }),
    ],
    [
      'with options that are undefined belongs to its turn',
      ({ self, agent, turn }) =>
        self.beliefs.commit({ topic: agent, claim: `${turn}`, turn: undefined, cause: undefined } as never),
    ],
  ])('with a claim that was %s', async (_, say) => {
    for (const agent of ['a', 'b']) await session.spawn(agent);
    const onTurn = { a: say, b: say };
    await session.runForward({ untilTurn: 1, onTurn });
    await session.at({ story: 0 }).fork({ name: 'x' });
    const { live } = await reusing(onTurn, 1);
    expect([live, await claims('x')]).toEqual([[], await claims()]);
    expect(await claims('x')).toHaveLength(2);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a rewind', () => session.rewind({ story: 2 }, { only: 'beliefs' })],
    ['an edit', () => session.edit({ kind: 'replace', seq: 3, event: { data: { text: 'edited' } } })],
  ])('saw what the original had then, and not what %s made of it since', async (_, change) => {
    await session.spawn('a', { scope: ['t'] });
    await session.beliefs.commit({ topic: 't', kind: 'fact', claim: 'a claim', turn: 3 });
    await session.append(note('a note', { agent: 'a', turn: 2 }));
    const onTurn = {
      a: async ({ self, recorder }: AgentTurn) => {
        const notes = (await all(self.replay())).filter(({ type }) => type === 'note.added');
        const seen = [...(await self.beliefs.list()).map(({ claim }) => claim), notes[0]?.data['text']];
        recorder.event({ type: 'decision.made', data: { decision: seen.join(', ') } });
      },
    };
    await session.runForward({ untilTurn: 3, onTurn });
    await change();
    for (const name of ['x', 'plain']) await session.at({ story: 2 }).fork({ name });
    const { live } = await reusing(onTurn, 3);
    expect(live).toHaveLength(1);
    await session.branch('plain').runForward({ untilTurn: 3, onTurn });
    const decided = async (at: string) =>
      (await all(session.at(at).replay({ filter: { types: ['decision.made'], turn: 3 } })))[0]?.data;
    expect(await decided('x')).toEqual(await decided('plain'));
    expect(await decided('x')).not.toEqual(await decided('main'));
  });

  test('may have asked a model with a prompt that it put together itself, unless what all may read has changed', async () => {
    await session.spawn('a', { scope: ['t'] });
    const onTurn = {
      a: async ({ self, recorder, turn }: AgentTurn) => {
        const content = `Turn ${turn}: ${(await self.beliefs.list()).length}`;
        const request = {
          messages: [
            { role: 'system', content: 'You are a.' },
            { role: 'user', content },
          ],
        } as const;
        const said = await recorder.call({ kind: 'model', name: 'small-1', request }, () => `heard ${content}`);
        await self.beliefs.commit({ topic: 't', claim: said });
      },
    };
    await session.runForward({ untilTurn: 2, onTurn });
    const x = await session.at({ story: 0 }).fork({ name: 'x' });
    expect((await reusing(onTurn, 1)).reused).toHaveLength(1);
    await x.append({ type: 'message.added', turn: 1, data: { message: { role: 'user', content: 'To all.' } } });
    const { live } = await reusing(onTurn, 2);
    expect([live.length, await reasonsOf(live[0])]).toEqual([1, ['message.added']]);
  });
});

describe('a turn that runs names as its reason', () => {
  test('the rule that settled a contradiction differently', async () => {
    await session.spawn('a', { scope: ['t'], trust: 0.9 });
    await session.spawn('b', { scope: ['t'], trust: 0.1 });
    await session.spawn('c', { scope: ['t', 'u'] });
    const onTurn: Fleet = {
      a: ({ self, turn }) => (turn === 1 ? self.beliefs.commit({ topic: 't', claim: 'a says' }) : undefined),
      b: ({ self, turn }) => (turn === 2 ? self.beliefs.commit({ topic: 't', claim: 'b says' }) : undefined),
      c: telling('u'),
    };
    await session.runForward({ untilTurn: 2, onTurn });
    const x = await session.at({ story: 1 }).fork({ name: 'x' });
    const { seq } = await x.mutate({ strategy: 'highest-trust' });
    const { live } = await reusing(onTurn, 2);
    expect([live.map(({ agent }) => agent), await reasonsOf(live[0])]).toEqual([['c'], ['strategy.changed']]);
    const { beliefs } = await reprise.diff('demo', 'demo/x', { beliefs: true, fromTurn: 2 });
    const found = beliefs?.topics.flatMap(({ claims: held }) => held) ?? [];
    const said = found.find(({ side, belief }) => side === 'right' && belief.agent === 'c');
    const [rule] = await all(session.at('x').replay({ after: seq - 1, limit: 1 }));
    expect(said?.attribution).toEqual({ how: 'certain', to: [rule?.id] });
  });

  test.each<[string, (seq: number, superseded: number) => Promise<unknown>, string]>([
    ['a rewind of the branch to a seq', (seq) => session.branch('x').rewind(seq), 'branch.rewound'],
    ['a supersession that was taken back', (_, seq) => session.branch('x').revert(seq), 'event.reverted'],
    [
      'a claim on a different topic that superseded what it sees by name',
      () => session.branch('x').beliefs.commit({ topic: 'other', kind: 'fact', claim: 'new', supersedes: ['two'] }),
      'belief.superseded',
    ],
  ])('%s', async (_, change, type) => {
    await session.spawn('a', { scope: ['t'] });
    const one = await session.beliefs.commit({ id: 'one', topic: 't', kind: 'fact', claim: 'one', turn: 1 });
    const two = { id: 'two', topic: 't', kind: 'fact', claim: 'two', turn: 1, supersedes: ['one'] } as const;
    const { seq: superseded } = await session.beliefs.commit(two);
    const onTurn = { a: telling('t') };
    await session.runForward({ untilTurn: 2, onTurn });
    await session.at({ story: 1 }).fork({ name: 'x' });
    await change(one.seq, superseded);
    const { live } = await reusing(onTurn, 2);
    expect([live.map(({ turn }) => turn), await reasonsOf(live[0])]).toEqual([[2], [type]]);
    const { beliefs } = await reprise.diff('demo', 'demo/x', { beliefs: true, fromTurn: 2 });
    for (const { belief, attribution } of beliefs?.topics.flatMap(({ claims: held }) => held) ?? [])
      if (belief.agent === 'a') expect(attribution.how).toBe('certain');
  });
});

describe('one run drives a branch', () => {
  test('of two at once, one begins the turns and the other says so and stops', async () => {
    for (const agent of ['a', 'b']) await session.spawn(agent);
    const onTurn = { a: telling('a'), b: telling('b') };
    const run = () => session.runForward({ untilTurn: 3, onTurn });
    const both = await Promise.all([run(), run()]);
    expect(both.map(({ stoppedBy }) => stoppedBy?.reason).toSorted()).toEqual(['overtaken', undefined]);
    const begun = await all(session.replay({ filter: { types: ['turn.started'] } }));
    expect(begun).toHaveLength(6);

    await session.at({ story: 0 }).fork({ name: 'x' });
    const again = await Promise.all([reusing(onTurn, 3), reusing(onTurn, 3)]);
    expect(again.map(({ stoppedBy }) => stoppedBy?.reason).toSorted()).toEqual(['overtaken', undefined]);
    expect(await all(session.at('x').replay({ filter: { types: ['turn.started'], turnAfter: 0 } }))).toHaveLength(6);
    expect(await claims('x')).toEqual(await claims());
  });

  test('state that an agent writes after a rewind, or after its turn, is refused', async () => {
    await session.spawn('a');
    let late: AgentTurn['self']['state'] | undefined;
    const outcomes: unknown[] = [];
    const write = async (state: AgentTurn['self']['state'] | undefined): Promise<void> => {
      await state
        ?.transaction((tx) => tx.write('plan', 1))
        .then(
          () => outcomes.push('written'),
          (error: { readonly code?: string }) => outcomes.push(error.code),
        );
    };
    const { stoppedBy } = await session.runForward({
      untilTurn: 1,
      onTurn: {
        a: async ({ self }) => {
          late = self.state;
          await session.rewind(1);
          await write(late);
        },
      },
    });
    await write(late);
    expect([stoppedBy?.reason, outcomes]).toEqual(['rewound', ['branch.rewound', 'resume.aborted']]);
    expect((await session.state.as('a').get('plan')).exists).toBe(false);
  });

  test('an agent that left earlier in the turn does not run', async () => {
    for (const agent of ['a', 'b']) await session.spawn(agent);
    const onTurn: Fleet = {
      a: ({ turn }) => (turn === 1 ? session.fleet.end('b') : undefined),
      b: telling('b'),
    };
    const { live, stoppedBy } = await session.runForward({ untilTurn: 2, onTurn });
    expect([live.map(({ turn, agent }) => `${turn} ${agent}`), stoppedBy]).toEqual([['1 a', '2 a'], undefined]);
  });
});
