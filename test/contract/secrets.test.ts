import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenOptions, openReprise, type Session } from '../../src/index.ts';

let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-secrets-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const secrets = {
  header: 'Zm9vYmFyc2VjcmV0',
  key: 'sk-proj-abcDEF1234567890abcDEF1234',
  environment: 'hunter2hunter2',
  lot: 'aB3dE5gH7jK9mN1pQ3sT5vW7',
  password: 'pa55w0rd',
  customer: 'CUST-4711',
};
const ids = { call: 'call_xY2zA4bC6dE8fG0hI2jK4lM6', run: 'rUn3E5gH7jK9mN1pQ3sT5vW7x' };

/** An agent that puts secrets wherever an agent can put them. */
async function recordSecrets(session: Session): Promise<void> {
  await using recorder = await session.record({ facts: false });
  const leaked = new Error(`401 for ${secrets.key} of ${secrets.customer}`);
  await recorder.run(
    { run: ids.run, title: `with ${secrets.key}`, program: { env: { TOKEN: secrets.environment } } },
    async () => {
      recorder.message({ role: 'user', content: `My key is ${secrets.key}, I am ${secrets.customer}.` });
      const messages = [{ role: 'user' as const, content: `${'long '.repeat(300)} ${secrets.key}` }];
      await recorder.call(
        {
          kind: 'model',
          name: 'm',
          request: { messages, settings: { headers: { authorization: `Bearer ${secrets.header}` } } },
        },
        () => secrets.key,
        (text) => ({
          message: { role: 'assistant', content: text },
          provider: { headers: { 'set-cookie': secrets.header } },
        }),
      );
      const input = { dsn: `postgres://app:${secrets.password}@db/x`, nonce: secrets.lot };
      await recorder.call({ kind: 'tool', name: 'connect', call: ids.call, input }, () => ({
        password: secrets.password,
      }));
      await recorder.call({ kind: 'http', name: 'x' }, () => Promise.reject(leaked)).catch(() => undefined);
      recorder.event({ type: 'note.added', data: { text: secrets.key } });
      return { apiKey: secrets.environment };
    },
  );
  expect((await recorder.flush()).failed).toBe(0);
}

/** Everything the store has on disk: its file, and what the write-ahead log still holds. */
async function bytesAfter(options: Omit<OpenOptions, 'store'>): Promise<Buffer> {
  const name = `${++files}.db`;
  const reprise = await openReprise({ store: `sqlite:${join(directory, name)}`, ...options });
  await recordSecrets(await reprise.createSession('demo'));
  const during = contents(name);
  await reprise.close();
  return Buffer.concat([during, contents(name)]);
}

const contents = (name: string): Buffer =>
  Buffer.concat(
    readdirSync(directory)
      .filter((file) => file.startsWith(name))
      .map((file) => readFileSync(join(directory, file))),
  );

test('no planted secret is anywhere in the database, while it is written and after; ids are', async () => {
  const rules = [{ name: 'customer', pattern: /CUST-\d+/ }];
  const bytes = await bytesAfter({ masking: { rules } });
  for (const [name, secret] of Object.entries(secrets)) expect(bytes.includes(secret), name).toBe(false);
  for (const id of Object.values(ids)) expect(bytes.includes(id)).toBe(true);
  for (const rule of ['secret-field', 'openai-key', 'url-password', 'high-entropy', 'customer'])
    expect(bytes.includes(`[masked ${rule} `), rule).toBe(true);
});

test('without masking every one of them is there, so the search would have found it', async () => {
  const bytes = await bytesAfter({ masking: false });
  for (const [name, secret] of Object.entries(secrets)) expect(bytes.includes(secret), name).toBe(true);
});

test('an event names the rules that fired, and the same secret has the same mask throughout a session', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('demo');
  await recordSecrets(session);
  await recordSecrets(session);
  const masks = new Set<string>();
  let named = 0;
  for await (const { data } of session.replay()) {
    for (const [mask] of JSON.stringify(data).matchAll(/\[masked openai-key [0-9a-f]{6}-[0-9a-f]{8}\]/g))
      masks.add(mask);
    if (Array.isArray(data['masked']) && data['masked'].includes('openai-key')) named++;
  }
  expect(masks.size).toBe(1);
  expect(named).toBeGreaterThan(8);
  const other = await reprise.createSession('other');
  await recordSecrets(other);
  for await (const { data } of other.replay())
    for (const mask of masks) expect(JSON.stringify(data)).not.toContain(mask);
});
