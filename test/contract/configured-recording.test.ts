/** A configuration decides which store opens, what the recorder masks, and what a call costs. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { type Config, openReprise, type Reprise, type Session } from '../../src/index.ts';
import { asks, littleAgent, recordLoop, says } from '../verbs/little-agent.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-configured-'));
  const cwd = process.cwd();
  process.chdir(folder);
  return () => {
    process.chdir(cwd);
    rmSync(folder, { recursive: true, force: true });
  };
});

const apiKey = `sk-proj-${'Ab3dEf6hIj'.repeat(3)}`;
const orderNumber = 'ORD-990017';

/** One model call whose prompt has a key and an order number. */
async function recordCall(session: Session, model: string): Promise<void> {
  await using recorder = await session.record({ agent: 'support', facts: false });
  const messages = [{ role: 'user', content: `My key is ${apiKey}, my order ${orderNumber}` }] as const;
  await recorder.run({ title: 'Refund' }, async () => {
    const call = await recorder.startCall({ kind: 'model', name: model, request: { messages } });
    call.end({ message: { role: 'assistant', content: 'Noted.' }, usage: { inputTokens: 1_000, outputTokens: 100 } });
  });
}

const costsIn = async (session: Session): Promise<unknown[]> => {
  const costs: unknown[] = [];
  for await (const { data } of session.replay({ filter: { types: ['call.ended'] } })) costs.push(data['cost'] ?? null);
  return costs;
};

/** Every byte of a folder, whatever the files are called. */
const bytesIn = (path: string): string =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');

async function recorded(reprise: Reprise, model: string): Promise<unknown[]> {
  const session = await reprise.session('refund', { create: true });
  await recordCall(session, model);
  const costs = await costsIn(session);
  await reprise.close();
  return costs;
}

test('openReprise() with nothing given uses the store, namespace, prices and masking of reprise.config', async () => {
  writeFileSync(
    'reprise.config.mjs',
    `export default {
      store: 'sqlite:runs/all.db',
      namespace: 'team',
      prices: { 'house-model': { input: 1, output: 10 } },
      masking: { rules: [{ name: 'order-number', pattern: /ORD-\\d+/ }] },
    };`,
  );
  mkdirSync('runs');
  const reprise = await openReprise();
  expect(reprise.currentNamespace).toBe('team');
  expect(await recorded(reprise, 'house-model')).toEqual([0.002]);
  const held = bytesIn('runs');
  expect(held).toContain('[masked order-number ');
  expect([held.includes(apiKey), held.includes(orderNumber)]).toEqual([false, false]);
});

test('secrets that can be told by their form are masked and known models have a price without a configuration', async () => {
  expect(await recorded(await openReprise('sqlite:plain.db'), 'gpt-4o')).toEqual([0.0035]);
  const held = bytesIn('.');
  expect([held.includes(apiKey), held.includes(orderNumber)]).toEqual([false, true]);
});

test('a store that is given is opened as it is: a configuration that lies there is not even run', async () => {
  writeFileSync('reprise.config.mjs', 'throw new Error("it was run");');
  const reprise = await openReprise('memory:');
  expect(reprise.currentNamespace).toBe('default');
  await reprise.close();
  await expect(openReprise()).rejects.toMatchObject({ code: 'config.invalid' });
  await (await openReprise({ config: false })).close();
});

test('a configuration can be handed over, and what is given goes before it', async () => {
  const config: Config = { namespace: 'team', prices: { 'gpt-4o': { input: 1, output: 10 } }, masking: false };
  expect(await recorded(await openReprise({ store: 'sqlite:a.db', config }), 'gpt-4o')).toEqual([0.002]);
  expect(bytesIn('.')).toContain(apiKey);
  const reprise = await openReprise({
    store: 'memory:',
    config,
    prices: { 'gpt-4o': { input: 0, output: 0 } },
    masking: {},
  });
  expect(await recorded(reprise, 'gpt-4o')).toEqual([0]);
});

test('the same secret has the same mask in every recording of a session, and another one in another session', async () => {
  await using reprise = await openReprise('memory:');
  const masks: (string | undefined)[] = [];
  for (const id of ['one', 'one', 'two']) {
    const session = await reprise.session(id, { create: true });
    await recordCall(session, 'm');
    for await (const { data } of session.replay({
      direction: 'backward',
      filter: { types: ['call.started'] },
      limit: 1,
    }))
      masks.push(/\[masked openai-key [0-9a-f]{6}-[0-9a-f]{8}\]/.exec(JSON.stringify(data))?.[0]);
  }
  expect(masks[0]).toBeDefined();
  expect(masks[1]).toBe(masks[0]);
  expect(masks[2]).not.toBe(masks[0]);
});

test('T10 a call with a secret among its arguments is found again by a resume, which masks as the recording did', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('refund');
  const input = { order: 7, key: apiKey };
  const pay = { kind: 'tool', name: 'pay', effect: 'irreversible', input } as const;
  let paid = 0;
  {
    await using recorder = await session.record({ facts: false });
    recorder.message({ role: 'user', content: 'Pay.' });
    await recorder.run({}, () => recorder.call(pay, () => ++paid));
  }
  const branch = await session.fork('main@1');
  const resumed = await branch.resume(async ({ recorder }) => recorder.call(pay, () => ++paid), { effects: 'reuse' });
  expect([paid, resumed.reused, resumed.result]).toEqual([1, 1, 1]);
});

test('T11 a pending call whose arguments were masked is answered from the record or an edit, never made with masks', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('connect');
  const called: unknown[] = [];
  const connect = (input: unknown): string => `${called.push(input)} connected`;
  const agent = littleAgent({ model: () => says('Connected.'), tools: { connect: { call: connect } } });
  const input = { host: 'db', key: apiKey };
  await recordLoop(
    session,
    {
      model: ({ messages }) => (messages.length === 1 ? asks('connect', input, 'c1') : says('Connected.')),
      tools: { connect: { call: connect } },
    },
    ['Connect.'],
  );
  // 1 run, 2 message, 3 and 4 the model asks for the tool
  const reusing = await (await session.fork('main@4')).resume(agent);
  expect([reusing.reused, called]).toEqual([1, [input]]);
  const running = await session.fork('main@4', { name: 'running' });
  await expect(running.resume(agent, { effects: 'run' })).rejects.toMatchObject({
    code: 'effect.refused',
    hint: expect.stringContaining('toolInput'),
  });
  expect(called).toHaveLength(1);
  expect(await session.at('running').find({ types: ['call.started'], kind: 'tool' })).toBeUndefined();
  const edits = [{ kind: 'toolInput', call: 'c1', input: { host: 'db', key: 'by hand' } }] as const;
  await (await session.fork('main@4', { edits })).resume(agent, { effects: 'run' });
  expect(called.at(-1)).toEqual({ host: 'db', key: 'by hand' });
});
