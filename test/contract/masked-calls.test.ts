/** Calls whose arguments were masked, when the key of the masks is a different one than it was. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createReprise } from '../../src/engine/reprise-parts.ts';
import { createNodePlatform, type JsonValue, type Message, openMemoryStore, openSqliteStore } from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';
import { asks, littleAgent, recordLoop, says } from '../verbs/little-agent.ts';

const platform = createNodePlatform();
const stores: Readonly<Record<string, (path: string) => Promise<EventStore>>> = {
  memory: async () => openMemoryStore({ platform }),
  sqlite: (path) => openSqliteStore({ path, platform, durability: 'process' }),
};

const masking = { rules: [{ name: 'card', pattern: /\b4\d{15}\b/ }] };
const input = { card: '4111111111111111', amount: 50 };

function payer(made: JsonValue[], asked: JsonValue, call: string, effect?: 'irreversible' | 'pure') {
  const script = [asks('pay', asked, call), says('Paid.')];
  const pay = { call: (given: JsonValue) => made.push(given), ...(effect === undefined ? {} : { effect }) };
  return { model: () => script.shift() as Message, tools: { pay } };
}

test.each(Object.keys(stores))(
  'T10 on %s, under a different key a call is in doubt, and not made again',
  async (kind) => {
    const directory = mkdtempSync(join(tmpdir(), 'reprise-masked-'));
    const store = await (stores[kind] as (path: string) => Promise<EventStore>)(join(directory, 'a.db'));
    const openWith = (key: string) => createReprise({ store, platform, recording: { masking, maskKey: () => key } });
    const made: JsonValue[] = [];
    const session = await openWith('the first key').createSession('demo');
    await recordLoop(session, payer(made, input, 'c1', 'irreversible'), ['Pay.']);
    expect(made).toEqual([input]);
    const stored = JSON.stringify(await Array.fromAsync(session.replay()));
    expect(stored).not.toContain('4111');

    const resumed = async (key: string, asked: JsonValue, effect?: 'irreversible' | 'pure'): Promise<unknown> => {
      const reopened = await openWith(key).session('demo');
      const branch = await reopened.fork('main@2');
      const { reused } = await branch.resume(littleAgent(payer(made, asked, 'new', effect)));
      return reused;
    };
    const refused = { code: 'effect.refused', message: expect.stringContaining('masked with a different key') };
    await expect(resumed('a second key', input, 'irreversible')).rejects.toMatchObject(refused);
    await expect(resumed('a second key', input)).rejects.toMatchObject({
      hint: expect.stringContaining('REPRISE_MASK_KEY'),
    });
    expect(made).toHaveLength(1);
    // With the key of then it is the same call, and what can be repeated is.
    const known = { code: 'effect.refused', message: expect.stringMatching(/it was made at demo@5 and ended "ok"/) };
    await expect(resumed('the first key', input, 'irreversible')).rejects.toMatchObject(known);
    expect(await resumed('the first key', input)).toBe(1);
    expect(made).toHaveLength(1);
    expect(await resumed('the first key', { ...input, card: '4222222222222222' })).toBe(0);
    expect(await resumed('a second key', input, 'pure')).toBe(0);
    // A difference beside the mask is a difference.
    expect(await resumed('a second key', { ...input, amount: 51 })).toBe(0);
    expect(made).toHaveLength(4);
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  },
);

test('nobody who has only the store can try out what a mask stands for', async () => {
  const store = openMemoryStore({ platform });
  const reprise = createReprise({ store, platform, recording: { masking: {}, maskKey: () => 'k'.repeat(32) } });
  const session = await reprise.createSession('demo');
  const recorder = await session.record({ facts: false });
  recorder.event({ type: 'note.added', data: { text: 'x', password: '1984-04-04' } });
  await recorder.close();
  const [event] = await Array.fromAsync(session.replay());
  const [, hash = ''] = /([0-9a-f]{8})\]$/.exec(String(event?.data['password'])) ?? [];
  const record = await store.session({ namespace: 'default', session: 'demo' });
  const known = [record?.seed, record?.genesis, 'demo', 'default', event?.id, event?.digest];
  for (const part of known)
    for (const tried of [`${part}\n1984-04-04`, `${part}1984-04-04`, `1984-04-04${part}`])
      expect(platform.sha256(tried).startsWith(hash)).toBe(false);
});
