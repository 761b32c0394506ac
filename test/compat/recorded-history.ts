import { createNodePlatform, type EventDraft, openSqliteStore, type Session } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import type { Platform } from '../../src/store.ts';

/** A machine whose clock, ids and salts count up, so that recording twice gives the same digests. */
export function countingPlatform(): Platform {
  const machine = createNodePlatform();
  const start = Date.parse('2026-11-15T10:00:00.000Z');
  let ticks = 0;
  let ids = 0;
  let salts = 0;
  return {
    ...machine,
    now: () => new Date(start + 1_000 * ticks++).toISOString(),
    newId: () => `0199a000-0000-7000-8000-${String(++ids).padStart(12, '0')}`,
    newSalt: () => `salt${String(++salts).padStart(18, '0')}`,
  };
}

const user = (content: string): { readonly role: string; readonly content: string } => ({ role: 'user', content });
const long = (topic: string): string => `${topic} `.repeat(90);
const note = (text: string, more: Partial<EventDraft> = {}): EventDraft => ({
  type: 'note.added',
  data: { text },
  ...more,
});

function modelCall(call: string, messages: readonly unknown[], turn: number): EventDraft[] {
  const envelope = { run: 'run-1', agent: 'support', turn };
  const named = { call, kind: 'model', name: 'large-1' };
  const request = { messages, body: JSON.stringify({ model: 'large-1', messages }) };
  const message = { role: 'assistant', content: long(`answer ${call}`) };
  const usage = { inputTokens: 100 * turn, outputTokens: 10 };
  return [
    { ...envelope, type: 'call.started', data: { ...named, request } as never },
    { ...envelope, type: 'call.ended', data: { ...named, outcome: 'ok', message, usage, latencyMs: 182 } },
  ];
}

/** Writes a store that has one of everything. */
export async function recordHistory(path: string): Promise<void> {
  const platform = countingPlatform();
  const store = await openSqliteStore({ path, platform });
  await using reprise = await openWith({ store, platform }, { snapshotEvents: 8 });
  const session = await reprise.createSession('demo', { metadata: { owner: 'ann', tier: 1 } });
  await recordMain(session);
  await recordBranches(session);
  await session.append(note('the last one', { agent: 'support' }));
  const odd = await reprise.namespace('a/b@c:d%e').createSession("'; DROP TABLE events; --");
  await odd.append({
    type: 'custom.thing',
    agent: '😀',
    data: JSON.parse(
      '{"10":1,"9":2,"__proto__":{"x":1},"a":[],"b":{},"n":null,"s":"é\\u0000😀","f":1.5e-7,"$part":"no","$$x":{"$list":[1]}}',
    ),
  });
  await odd.append({ ...note('of a release to come'), type: 'custom.thing', version: 7 });
}

async function recordMain(session: Session): Promise<void> {
  const [asked] = await session.append([
    {
      type: 'run.started',
      run: 'run-1',
      agent: 'support',
      turn: 1,
      data: { title: 'Where is order 7?', program: { name: 'agent.js' } },
    },
    { type: 'message.added', run: 'run-1', turn: 1, data: { message: user('My card number is 4111 1111 1111 1111.') } },
  ]);
  const messages = [{ role: 'system', content: long('be kind') }, user('My card number is 4111 1111 1111 1111.')];
  await session.append(modelCall('m1', messages, 1));
  const tool = { call: 't1', kind: 'tool', name: 'refund' };
  await session.append([
    {
      type: 'call.started',
      run: 'run-1',
      turn: 2,
      cause: asked?.id ?? '',
      data: { ...tool, effect: 'irreversible', input: { order: 7 } },
    },
    { type: 'call.ended', run: 'run-1', turn: 2, data: { ...tool, outcome: 'ok', output: { refunded: true } } },
    {
      type: 'state.committed',
      turn: 2,
      data: { operations: [{ agent: 'default', key: 'plan', op: 'write', value: { next: 'ask' }, version: 1 }] },
    },
    {
      type: 'belief.committed',
      agent: 'support',
      turn: 2,
      data: { claim: 'The order is paid', topic: 'orders', trust: 0.8 },
    },
  ]);
  await session.append(modelCall('m2', [...messages, user(long('and then'))], 3));
  await session.append([
    { type: 'run.ended', run: 'run-1', turn: 3, data: { outcome: 'ok', result: 'refunded' } },
    note('after the run', { turn: 4 }),
    note('late', { turn: 2 }),
  ]);
}

async function recordBranches(session: Session): Promise<void> {
  const x = await session.fork('main@7', {
    name: 'x',
    reason: 'another prompt',
    metadata: { tier: 2 },
    edits: [
      { kind: 'toolResult', call: 't1', output: { refunded: false } },
      { kind: 'insert', after: 3, event: note('inserted behind three') },
    ],
  });
  await x.append([note('on x', { turn: 5 }), note('to be reverted', { turn: 5 })]);
  await session.branch('x').revert(x.head + 2, { reason: 'not ours', agent: 'ann' });
  const y = await session.at({ branch: 'x', seq: x.head + 1 }).fork({ name: 'y', prompt: 'Only look at the pool.' });
  await y.append(note('on y'));
  await session.at({ story: 2 }).fork({ name: 'by-turn' });
  await session.rewind(9, { reason: 'too far' });
  await session.append(note('after the rewind', { turn: 6 }));
  await session.edit({
    kind: 'replace',
    seq: 8,
    event: { type: 'note.added', data: { text: 'The order is open' } },
  });
  await session.redo();
  await session.rewind({ story: 3 });
  await session.redo();
  await session.erase('main@3', { reason: 'personal data' });
  await session.setMetadata({ owner: 'bob' });
}
