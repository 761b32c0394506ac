import fc from 'fast-check';
import { expect } from 'vitest';
import type { AgentTurn } from '../../src/fleet.ts';
import { type Event, openReprise, type Session } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';

const names = ['a', 'b', 'c', 'd', 'e'] as const;
const turnsMax = 5;

/** A fleet whose agents are functions of what they see, a turn to fork at, and what is changed there. */
export const forwardFleets = fc.record({
  sees: fc.array(fc.nat({ max: names.length - 1 }), { minLength: names.length, maxLength: names.length }),
  forkTurn: fc.integer({ min: 0, max: 3 }),
  change: fc.constantFrom('mutate', 'mutate', 'spawn', 'scope', 'state', 'message'),
  which: fc.nat({ max: names.length - 1 }),
  hasState: fc.boolean(),
  hasCalls: fc.boolean(),
});

type Made = typeof forwardFleets extends fc.Arbitrary<infer Each> ? Each : never;

/** A digest of texts: the least change of an input changes it. */
function hash(texts: readonly string[], turn: number): number {
  let value = turn + 1;
  for (const character of texts.join('|')) value = (Math.imul(value, 31) + character.charCodeAt(0)) >>> 0;
  return value % 7;
}

/** An agent that says, on its own topic, a digest of everything it is given. */
const agentOf =
  (index: number, { hasState, hasCalls }: Made) =>
  async ({ turn, self, recorder }: AgentTurn): Promise<number> => {
    const seen = (await self.beliefs.list()).map(({ agent, topic, claim }) => `${agent} ${topic} ${claim}`).sort();
    const own: string[] = [];
    for await (const { type, agent, data } of self.replay())
      if (type === 'belief.committed' && agent === self.agent) own.push(String(data['claim']));
    const { value } = await self.state.get('sum');
    const sum = hash([...seen, ...own.slice(-3), String(value)], turn);
    if (hasCalls) {
      const messages = [{ role: 'user', content: `Turn ${turn}: ${seen.join(', ')}` }] as const;
      recorder.message(messages[0]);
      await recorder.call({ kind: 'model', name: 'small-1', request: { messages } }, () => `sum ${sum}`);
    }
    if (hasState) await self.state.transaction((tx) => tx.write('sum', sum));
    if (sum % 3 !== 0) await self.beliefs.commit({ topic: `t${index % names.length}`, claim: `says ${sum}` });
    return sum;
  };

const fleetOf = (made: Made): Record<string, (turn: AgentTurn) => Promise<number>> =>
  Object.fromEntries([...names, 'new'].map((name, index) => [name, agentOf(index, made)]));

async function change(session: Session, branch: string, { change: what, which, forkTurn }: Made): Promise<void> {
  const on = session.branch(branch);
  const agent = names[which] as string;
  if (what === 'mutate') await on.mutate({ agent: 'a', topic: `t${which}`, claim: 'what if' });
  else if (what === 'spawn') await on.spawn('new', { scope: ['t0'], fromTurn: forkTurn + 1 });
  else if (what === 'scope') await on.mutate({ agent, scope: [`t${which}`, 't0', 't2'] });
  else if (what === 'state') await on.mutate({ state: { agent, key: 'sum', value: 99 } });
  else
    await on.append({
      type: 'message.added',
      agent,
      turn: forkTurn + 1,
      data: { message: { role: 'user', content: 'Hi' } },
    });
}

async function said(session: Session, branch: string, turn: number): Promise<readonly string[]> {
  const on = session.branch(branch);
  return (await on.at({ story: turn }).beliefs.list())
    .map(({ agent, topic, claim }) => `${agent} ${topic} ${claim}`)
    .sort();
}

/** Follows the reasons of an event of a branch to what was changed there. */
function rootsOf(mine: ReadonlyMap<string, Event>, id: string, seen: Set<string>): Event[] {
  const event = mine.get(id);
  if (event === undefined || seen.has(id)) return [];
  seen.add(id);
  if (event.type === 'turn.started')
    return ((event.data['because'] ?? []) as readonly string[]).flatMap((reason) => rootsOf(mine, reason, seen));
  return event.cause === undefined ? [event] : rootsOf(mine, event.cause, seen);
}

/** Runs a fleet, forks it, changes something, and compares repeating with running everything. */
export async function runFleets(url: string, made: Made): Promise<{ readonly live: number; readonly reused: number }> {
  await using reprise = await openReprise(url);
  const session = await reprise.createSession(`f-${Math.random()}`);
  for (const [index, name] of names.entries())
    await session.spawn(name, { scope: [`t${index}`, `t${made.sees[index] ?? 0}`] });
  const onTurn = fleetOf(made);
  await session.runForward({ untilTurn: turnsMax, onTurn });
  for (const name of ['plain', 'reusing', 'same']) await session.at({ story: made.forkTurn }).fork({ name });
  for (const name of ['plain', 'reusing']) await change(session, name, made);
  const run = async (name: string, reuseUnchanged: boolean) =>
    session.branch(name).runForward({ untilTurn: turnsMax, onTurn, reuseUnchanged });
  const plain = await run('plain', false);
  const reusing = await run('reusing', true);
  const unchanged = await run('same', true);
  for (const result of [plain, reusing, unchanged]) expect(result.stoppedBy).toBeUndefined();
  expect(unchanged.live, 'nothing runs where nothing was changed').toEqual([]);
  expect(plain.reused).toEqual([]);
  expect(plain.live.length, 'every turn is either run or repeated').toBe(reusing.live.length + reusing.reused.length);
  for (let turn = 0; turn <= turnsMax; turn++) {
    expect(await said(session, 'reusing', turn), `reusing gives what running gives, turn ${turn}`).toEqual(
      await said(session, 'plain', turn),
    );
    expect(await said(session, 'same', turn), `an unchanged branch repeats the original, turn ${turn}`).toEqual(
      await said(session, 'main', turn),
    );
  }
  const branch = session.branch('reusing');
  const events = (await all(branch.replay())).filter(({ branch: on }) => on === 'reusing');
  const mine = new Map(events.map((event) => [event.id, event]));
  for (const { id, type, data } of events) {
    if (type !== 'turn.started' || data['because'] === undefined) continue;
    const roots = rootsOf(mine, id, new Set());
    expect(roots.length, 'every turn that ran goes back to what was changed').toBeGreaterThan(0);
    for (const root of roots) expect(root.type).toMatch(/^(belief\.committed|agent\.|state\.committed|message\.added)/);
  }
  return { live: reusing.live.length, reused: reusing.reused.length };
}
