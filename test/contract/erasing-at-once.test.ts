import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createNodePlatform,
  type EventDraft,
  openMemoryStore,
  openReprise,
  openSqliteStore,
  type Session,
} from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';

const platform = createNodePlatform();
let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-erasing-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const stores: Readonly<Record<string, () => Promise<EventStore>>> = {
  memory: async () => openMemoryStore({ platform }),
  sqlite: () => openSqliteStore({ path: join(directory, `${files++}.db`), platform, durability: 'process' }),
};

/** A session whose first erasure is overtaken: what is given here happens after it was planned. */
async function overtaken(
  open: () => Promise<EventStore>,
  first: readonly EventDraft[],
  meanwhile: (other: Session) => Promise<unknown>,
): Promise<Session> {
  const store = await open();
  const other = await (await openReprise({ store, platform })).createSession('demo');
  await other.append(first);
  let isFirst = true;
  const slow = new Proxy(store, {
    get: (target, name) => {
      const method = (Reflect.get(target, name) as (...given: unknown[]) => unknown).bind(target);
      if (name !== 'erase' || !isFirst) return method;
      isFirst = false;
      return async (...given: unknown[]) => {
        await meanwhile(other);
        return method(...given);
      };
    },
  });
  return (await openReprise({ store: slow, platform })).session('demo');
}

const secrets = ['The first secret of this session.', 'The second secret of this session.'] as const;
const note = (text: string): EventDraft => ({ type: 'note.added', data: { text } });

describe.each(Object.entries(stores))('erasing on %s while others write:', (_, open) => {
  test('what was appended after the plan and holds the content is found too', async () => {
    const session = await overtaken(open, [note(secrets[0])], async (other) => {
      await other.append(note(`quoting: ${secrets[0]}`));
      await (await other.fork('main@1', { name: 'x' })).append(note(`again: ${secrets[0]}`));
    });
    const erased = await session.erase('main@1');
    expect(JSON.stringify(await session.toJSON())).not.toContain(secrets[0]);
    expect(erased.events).toHaveLength(3);
    for (const at of ['main', 'x']) expect(await session.at(at).verify()).toMatchObject({ ok: true });
  });

  test('a message that was said again after the plan is a hole that the erasure accounts for', async () => {
    const long = `${secrets[0]} ${'It is long. '.repeat(60)}`;
    const said = { type: 'message.added', data: { message: { role: 'user', content: long } } };
    const session = await overtaken(open, [said], (other) => other.append(said));
    await session.erase('main@1');
    expect(JSON.stringify(await session.toJSON())).not.toContain(secrets[0]);
    const [first, again] = await Array.fromAsync(session.replay());
    expect([first?.erased, again?.data]).toEqual([true, { message: { erased: true } }]);
    expect(await session.verify()).toMatchObject({ ok: true });
  });

  test('two erasures in one list do not bring back what the other took', async () => {
    const messages = secrets.map((content) => ({ role: 'user', content }));
    const call = {
      call: 'c',
      kind: 'model',
      name: 'm',
      request: { messages: [...messages, { role: 'user', content: 'Hello' }] },
    };
    const first = [
      ...messages.map((message) => ({ type: 'message.added', data: { message } })),
      { type: 'call.started', data: call },
    ];
    const session = await overtaken(open, first, (other) => other.erase('main@2'));
    await session.erase('main@1');
    const text = JSON.stringify(await session.toJSON());
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).toContain('Hello');
    expect(await session.verify()).toMatchObject({ ok: true });
  });
});
