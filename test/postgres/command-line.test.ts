import { afterAll, expect, it } from 'vitest';
import { createNodePlatform, openReprise, type Platform } from '../../src/index.ts';
import { Place } from '../e2e/cli/run.ts';
import { newPlace } from './place.ts';

const place = new Place();
afterAll(() => place[Symbol.dispose]());

/** A platform that gives the same history twice. */
function steadyPlatform(): Platform {
  let count = 0;
  const next = (): string => String(++count).padStart(12, '0');
  return {
    ...createNodePlatform(),
    now: () => new Date(Date.UTC(2026, 10, 15) + count).toISOString(),
    newId: () => `00000000-0000-7000-8000-${next()}`,
    newSalt: () => `salt-salt-${next()}`,
  };
}

async function record(store: string): Promise<void> {
  await using reprise = await openReprise({ store, platform: steadyPlatform() });
  const session = await reprise.createSession('demo');
  const say = (role: string, content: string) => ({ type: 'message.added', data: { message: { role, content } } });
  await session.append({ type: 'run.started', data: { title: 'refund' }, run: 'r1', agent: 'support' });
  await session.append(say('user', 'Where is my money?\u0000 \u{1F600}'));
  await session.append([say('assistant', `Let me look. ${'x'.repeat(2_000)}`), say('user', 'Please do.')]);
  await session.append({ type: 'run.ended', data: { outcome: 'ok' }, run: 'r1', agent: 'support' });
  await session.fork('main@2', { name: 'kinder', prompt: 'Where is my money, please?' });
  await session.rewind('main@4', { reason: 'again' });
}

const questions = [
  ['list'],
  ['replay', 'demo'],
  ['replay', 'demo/kinder'],
  ['show', 'demo@4'],
  ['state', 'demo@4', 'conversation'],
  ['diff', 'demo', 'demo/kinder'],
  ['verify', 'demo'],
  ['fingerprint', 'demo/kinder'],
  ['show', 'nowhere@1'],
  ['replay', 'demo@99'],
];

it('commands answer on PostgreSQL what they answer on SQLite', async () => {
  const server = newPlace();
  const file = `sqlite:${place.folder}/same.db`;
  await record(server);
  await record(file);
  for (const words of questions) {
    const [onServer, onFile] = await Promise.all(
      [server, file].map((store) => place.run([...words, '--json', '--store', store])),
    );
    const shown = (text = ''): string => text.replaceAll(server, 'STORE').replaceAll(file, 'STORE');
    expect({ words, code: onServer?.code, out: shown(onServer?.stdout), err: shown(onServer?.stderr) }).toEqual({
      words,
      code: onFile?.code,
      out: shown(onFile?.stdout),
      err: shown(onFile?.stderr),
    });
  }
});

it('commands change a history on PostgreSQL, and doctor finds it sound without showing the password', async () => {
  const server = newPlace();
  await record(server);
  const run = (...words: string[]) => place.json(...words, '--store', server);
  await run('fork', 'demo@3', '--name', 'other', '--reason', 'a test');
  await run('rewind', 'demo/other@2', '--reason', 'a test');
  expect((await run('verify', 'demo/other'))['ok']).toBe(true);
  const doctor = await run('doctor', '--verify');
  expect(doctor).toMatchObject({ ok: true, store: { kind: 'postgres', durability: 'disk' }, sessions: 1 });
  expect(JSON.stringify(doctor)).not.toContain('reprise@127');
  expect(JSON.stringify(doctor)).not.toContain(':reprise@');
});

it('commands say what is wrong with a server that is not there, and exit with 3', async () => {
  const ran = await place.run(['list', '--json', '--store', 'postgres://me:hidden@127.0.0.1:1/none']);
  expect(ran.code).toBe(3);
  expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'store.unreachable' } });
  expect(ran.stderr + ran.stdout).not.toContain('hidden');
});
