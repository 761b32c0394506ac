import { afterAll, expect, inject, it } from 'vitest';
import { createNodePlatform, openReprise } from '../../src/index.ts';
import type { Platform } from '../../src/store.ts';
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
  await session.rewind(4, { reason: 'again' });
}

const questions = [
  ['list'],
  ['replay', 'demo'],
  ['replay', 'demo/kinder'],
  ['show', 'demo@4'],
  ['fold', 'demo@4', 'conversation'],
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

it('what cannot be opened is named, with what is the case and what to do', async () => {
  const server = inject('postgresUrl');
  const { host } = new URL(server);
  const cases: readonly (readonly [url: string, told: RegExp, hint: RegExp])[] = [
    [server.replace(/[^/]*$/, 'nowhere'), /@\S+\/nowhere": there is no such database/, /CREATE DATABASE/],
    [`postgres://me:hidden@${host}/postgres`, /me@\S+": the server does not accept the user/, /PGPASSWORD/],
    ['postgres://me:hidden@127.0.0.1:1/none', /": the server does not answer \(connect ECONN/, /host and port/],
    [`${server}?shcema=other`, /does not take a parameter of the URL .*shcema/, /behind the "\?"/],
    [`postgres://me:hid/hidden@${host}/postgres`, /me@\S+": its password has a character/, /%2F/],
    [`postgres://me:%hidden@${host}/postgres`, /me@\S+": a "%" in it/, /%25/],
  ];
  for (const [url, told, hint] of cases) {
    const { code, stderr } = await place.run(['list', '--json', '--store', url]);
    const { error } = JSON.parse(stderr) as { readonly error: { readonly message: string; readonly hint: string } };
    expect(code, url).toBeGreaterThan(1);
    expect(error.message).toMatch(/^Cannot open (the|a) store at "postgres:/);
    expect(error.message).toMatch(told);
    expect(error.hint).toMatch(hint);
    expect(stderr).not.toContain('hidden');
    const doctor = await place.run(['doctor', '--json', '--store', url]);
    const { findings } = JSON.parse(doctor.stdout) as { readonly findings: readonly { readonly todo: string }[] };
    expect([doctor.code, findings[0]?.todo]).toEqual([1, error.hint]);
  }
});

it('a password is not repeated where a URL stands in the wrong place', async () => {
  const url = 'postgres://me:hid/hidden@127.0.0.1:1/none';
  for (const words of [
    ['list', url],
    ['show', url],
    ['copy', url],
    [url],
    ['config', `--store=${url}`],
    ['get', 'a', 'b', url],
  ]) {
    const { stdout, stderr } = await place.run(words);
    expect([words, stdout + stderr]).toEqual([words, expect.not.stringContaining('hidden')]);
  }
  const { stdout, stderr } = await place.run(['doctor'], { env: { REPRISE_STORE: url } });
  expect(stdout + stderr).not.toContain('hidden');
});
