import { expect, test } from 'vitest';
import type { ReplayOptions } from '../../core/session/session-log.ts';
import type { EventStore } from '../../core/store/event-store.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import type { Branch } from '../branch.ts';
import { textsOf } from '../looking/replay.ts';
import { createReprise } from '../reprise-parts.ts';

const platform = createNodePlatform();

async function textsWith(branch: Branch, options: ReplayOptions): Promise<string[]> {
  return (await Array.fromAsync(textsOf(branch.replay(options)))).flat();
}

test('the texts of a replay are the JSON of its events', async () => {
  const session = await createReprise({ store: openMemoryStore({ platform }), platform }).createSession('demo');
  const said = (text: string) => ({ type: 'message.added', data: { message: { role: 'user', content: text } } });
  await session.append([
    { type: 'note.added', agent: 'a', data: { text: 'plain "text"\n😀' } },
    { type: 'note.added', data: { text: 'x'.repeat(5_000) } },
    { type: 'note.added', data: { text: 'to be erased' } },
    { type: 'own.kind', data: { $part: 'not a part', __proto__: 1, 'a/b': [1e21, -0.5, null] } },
    said('one'),
    said('two'),
  ]);
  await session.erase('main@3');
  const forked = await session.fork('main@6', {
    edits: [
      { kind: 'replace', seq: 5, event: { data: said('other').data } },
      { kind: 'drop', seq: 6 },
    ],
  });
  const asked: ReplayOptions[] = [
    {},
    { history: 'raw' },
    { history: 'raw', direction: 'backward' },
    { limit: 2 },
    { limit: 0 },
    { after: 2, filter: { types: ['note.added', 'message.added'] } },
  ];
  for (const branch of [session, forked])
    for (const options of asked) {
      const events = await Array.fromAsync(branch.replay(options));
      expect(await textsWith(branch, options)).toEqual(events.map((event) => JSON.stringify(event)));
    }
});

test('a follower gets texts as they are stored, and ends when nobody reads them', async () => {
  const session = await createReprise({ store: openMemoryStore({ platform }), platform }).createSession('demo');
  await session.append({ type: 'note.added', data: { text: 'first' } });
  const texts = textsOf(session.replay({ follow: true }));
  expect((await texts.next()).value).toHaveLength(1);
  const next = texts.next();
  await session.append({ type: 'note.added', data: { text: 'second' } });
  expect((await next).value).toEqual([expect.stringContaining('second')]);
  const waiting = texts.next();
  await texts.return?.();
  expect((await waiting).done).toBe(true);
});

test('a payload that is damaged is not passed on, and one with line breaks stays in its line', async () => {
  let stored = '{"text":"x"';
  const store = new Proxy(openMemoryStore({ platform }), {
    get: (target, name) =>
      name !== 'read'
        ? Reflect.get(target, name).bind?.(target)
        : async (...asked: Parameters<EventStore['read']>) => {
            const page = await target.read(...asked);
            return { ...page, events: page.events.map((event) => ({ ...event, data: stored })) };
          },
  });
  const session = await createReprise({ store, platform }).createSession('demo');
  await session.append({ type: 'note.added', data: { text: 'x' } });
  await expect(textsWith(session, {})).rejects.toMatchObject({ code: 'store.damaged' });
  stored = '{\n"text":"x"}';
  expect(await textsWith(session, {})).toEqual([expect.stringContaining('"data":{"text":"x"}')]);
});
