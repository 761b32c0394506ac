/** Beliefs and agents at their edges: nothing is ignored, shown or written that was not asked for. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AgentBranch, beliefs, openReprise, type Reprise, type Session } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { all, note } from '../verbs/verb-case.ts';

let reprise: Reprise;
let session: Session;

beforeEach(async () => {
  reprise = await openReprise('memory:');
  session = await reprise.createSession('demo');
});
afterEach(() => reprise.close());

const refused = (code: string, message: RegExp | string = '') =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe('a commit', () => {
  test('through an agent supersedes only what the agent sees, and tells nothing about the rest', async () => {
    await session.spawn('db', { scope: ['database'] });
    await session.beliefs.commit({ id: 'own', topic: 'database', kind: 'fact', claim: 'full' });
    await session.beliefs.commit({ id: 'secret', topic: 'people', kind: 'fact', claim: 'private' });
    const claim = { topic: 'database', kind: 'fact', claim: 'a slow query' } as const;
    for (const id of ['secret', 'nowhere'])
      await expect(session.as('db').beliefs.commit({ ...claim, supersedes: [id] })).rejects.toEqual(
        refused('scope.denied', `"${id}": "db" sees no claim of that id`),
      );
    const { superseded } = await session.as('db').beliefs.commit({ ...claim, supersedes: ['own', 'own'] });
    expect(superseded).toEqual(['own']);
    expect((await session.beliefs.list()).map(({ id }) => id)).toContain('secret');
  });

  test('through an agent has no more trust than the agent, and is its own', async () => {
    await session.spawn('lead', { trust: 0.9 });
    await session.spawn('intern', { trust: 0.2, trustOn: { coffee: 0.8 } });
    await session.beliefs.setStrategy('highest-trust');
    await session.as('lead').beliefs.commit({ id: 'lead', topic: 'cause', claim: 'the pool' });
    const intern = session.as('intern').beliefs;
    const claim = { topic: 'cause', claim: 'a bad deploy' };
    await expect(intern.commit({ ...claim, trust: 1 })).rejects.toEqual(
      refused('scope.denied', /trusted 0.2 on "cause"$/),
    );
    const ofLead = { ...claim, agent: 'lead' };
    await expect(intern.commit(ofLead)).rejects.toEqual(refused('scope.denied', /claim of "lead" as "intern"$/));
    expect((await intern.commit({ ...claim, trust: 0.1 })).stands).toBe(false);
    expect((await intern.commit({ topic: 'coffee', claim: 'cold', trust: 0.8 })).belief.trust).toBe(0.8);
    expect((await session.beliefs.list({ topic: 'cause' })).map(({ id }) => id)).toEqual(['lead']);
    expect((await session.beliefs.commit({ ...claim, agent: 'intern', trust: 1 })).stands).toBe(true);
  });

  test('with the id of a different turn or trust is a different claim', async () => {
    const claim = { id: 'a', topic: 't', claim: 'one', turn: 3, trust: 0.3 };
    const { belief } = await session.beliefs.commit(claim);
    expect((await session.beliefs.commit({ id: 'a', topic: 't', claim: 'one' })).belief).toEqual(belief);
    for (const other of [{ turn: 4 }, { trust: 0.4 }])
      await expect(session.beliefs.commit({ ...claim, ...other })).rejects.toEqual(refused('event.id-reused'));
  });
});

describe('an agent', () => {
  test('that joins in a turn to come is refused by what it is', async () => {
    await session.spawn('late', { fromTurn: 20 });
    await expect(session.spawn('late')).rejects.toEqual(refused('agent.exists', /joins in turn 20$/));
    for (const verb of ['change', 'end'] as const)
      await expect(session.fleet[verb]('late', verb === 'change' ? { trust: 0.1 } : {})).rejects.toEqual(
        refused('agent.not-spawned', /joins in turn 20$/),
      );
    await session.revert(1);
    await session.spawn('late');
    await expect(session.spawn('late')).rejects.toEqual(refused('agent.exists', /is there already$/));
  });

  test('is not changed by nothing', async () => {
    await session.spawn('a');
    await expect(session.fleet.change('a', { turn: 2 })).rejects.toEqual(refused('option.invalid'));
    await expect(session.mutate({ agent: 'a' })).rejects.toEqual(refused('option.invalid'));
    expect((await session.locate()).head).toBe(1);
  });

  test('I7 sees of its own transactions nothing that they wrote to the state of others', async () => {
    await session.spawn('db');
    await session.state.as('db').transaction((tx) => {
      tx.write('own', 1);
      tx.as('net').write('plan', 'secret');
    });
    await session.state.as('db').transaction((tx) => tx.as('net').write('next', 'secret'));
    for (const agent of [null, 'net'])
      expect(() => session.as('db').state.replay({ agent })).toThrow(refused('scope.denied', /its own alone$/));
    expect((await all(session.as('db').state.replay({ agent: 'db' }))).length).toBe(1);
    const seen = await all(session.as('db').replay());
    expect(seen.map(({ type }) => type)).toEqual(['agent.spawned', 'state.committed']);
    expect(JSON.stringify(seen)).not.toContain('secret');
  });

  test('I7 sees events of a type that is not in the catalogue only if they are its own, whatever their name', async () => {
    await session.spawn('db', { scope: ['database'] });
    for (const agent of ['db', 'net'])
      await session.append({ type: 'belief.doubted', agent, data: { topic: 'database', by: agent } });
    const seen = await all(session.as('db').replay());
    expect(seen.map(({ type, agent }) => [type, agent])).toEqual([
      ['agent.spawned', 'db'],
      ['belief.doubted', 'db'],
    ]);
  });

  test('I7 gets nothing back that was taken from it through the point of a different branch', async () => {
    await session.spawn('db', { scope: ['database', 'people'] });
    await session.fork('main@1', { name: 'before' });
    const { seq } = await session.beliefs.commit({ topic: 'people', kind: 'fact', claim: 'private' });
    await session.fleet.change('db', { scope: ['database'] });
    const own = session.as('db', { handed: true }).branch('before');
    const then = own.branch('main').at(seq);
    expect(await then.beliefs.list()).toEqual([]);
    expect((await then.known()).beliefs).toEqual([]);
    expect(JSON.stringify(await all(then.replay()))).not.toContain('private');
    expect(() => own.at(`main@${seq}`)).toThrow(refused('ref.invalid'));
    const free = session.as('db').branch('before').branch('main');
    expect((await free.at(seq).beliefs.list()).length).toBe(1);
  });

  test('I7 gets nothing back that was taken from it on the branch of its surface by moving to a different one', async () => {
    await session.spawn('db', { scope: ['database', 'people'] });
    const before = await session.fork('main', { name: 'before' });
    await before.beliefs.commit({ id: 'p', topic: 'people', kind: 'fact', claim: 'private' });
    await session.fleet.change('db', { scope: ['database'] });
    const seen: unknown[] = [];
    const look = async (self: AgentBranch): Promise<void> => {
      const own = self.branch('before');
      seen.push(await own.beliefs.list(), await own.branch('before').fold(beliefs), (await own.known()).beliefs);
      seen.push((await all(own.replay())).filter(({ type }) => type.startsWith('belief.')));
      for (const claim of [{ topic: 'people' }, { topic: 'database', supersedes: ['p'] }])
        await expect(own.beliefs.commit({ ...claim, claim: 'mine' })).rejects.toEqual(refused('scope.denied'));
    };
    await look(session.as('db', { handed: true }));
    await session.runForward({ untilTurn: 1, onTurn: { db: ({ self }) => look(self) } });
    expect(seen).toEqual(Array.from({ length: 8 }, () => []));
    // An operator who hands it out on the other branch means the scope there.
    expect((await before.as('db', { handed: true }).beliefs.list()).length).toBe(1);
    expect(() => before.as('db', { branch: 'main' } as never)).toThrow(refused('option.invalid'));
  });
});

test('a rewind of beliefs alone needs a turn, and there is no other group', async () => {
  await session.beliefs.commit({ topic: 't', claim: 'one', turn: 1 });
  await session.append(note('stays', { turn: 2 }));
  await expect(session.rewind(1, { only: 'beliefs' })).rejects.toEqual(refused('option.invalid'));
  await expect(session.rewind({ story: 0 }, { only: 'tasks' as never })).rejects.toEqual(refused('option.invalid'));
  expect((await session.locate()).head).toBe(2);
});

test('an audit with a limit of 0 follows from now on', async () => {
  await session.spawn('a');
  const following = session.audit({ limit: 0, follow: true });
  const next = following.next();
  await session.fleet.end('a');
  expect((await next).value?.type).toBe('agent.ended');
  await following.return?.();
  expect(await all(session.audit({ limit: 0 }))).toEqual([]);
});

test('a look that reads what a commit of the same process has just stored counts it once', async () => {
  const [stored, answer, asked, read] = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  let isSlow = false;
  const inner = openMemoryStore({ platform: createNodePlatform() });
  const slow = new Proxy(inner, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== 'function') return method;
      return async (...values: unknown[]) => {
        const found: unknown = await Reflect.apply(method, target, values);
        if (isSlow && name === 'append') stored?.resolve();
        if (isSlow && name === 'append') await answer?.promise;
        if (isSlow && name === 'read') asked?.resolve();
        if (isSlow && name === 'read') await read?.promise;
        return found;
      };
    },
  });
  await using other = await openReprise({ store: slow });
  const fleet = await other.createSession('demo');
  await fleet.beliefs.commit({ topic: 'a', claim: 'one' });
  isSlow = true;
  const commit = fleet.beliefs.commit({ topic: 'b', claim: 'two' });
  await stored?.promise;
  const look = fleet.beliefs.list();
  await asked?.promise;
  answer?.resolve();
  await commit;
  read?.resolve();
  expect((await look).map(({ claim }) => claim)).toEqual(['one', 'two']);
  expect((await fleet.beliefs.list()).map(({ claim }) => claim)).toEqual(['one', 'two']);
});
