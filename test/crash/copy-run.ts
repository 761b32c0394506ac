import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { openReprise, type Reprise } from '../../src/index.ts';
import { Random } from './random.ts';

const child = fileURLToPath(new URL('./copy-child.ts', import.meta.url));

/** Copies in a process of its own, which is killed after so many words of progress. Gives what it said. */
async function copyAndKill(from: string, to: string, lines: number): Promise<readonly string[]> {
  const running = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, from, to], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'reprise-compile-cache') },
  });
  const said: string[] = [];
  const told = createInterface(running.stdout).on('line', (line) => {
    said.push(line);
    if (said.length >= lines) running.kill('SIGKILL');
  });
  await Promise.all([once(running, 'close'), once(told, 'close')]);
  return said;
}

const note = (text: string) => ({ type: 'note.added', data: { text } });

/** Records two sessions, the second one with a fork, something erased, and parts. */
export async function recordLong(store: string): Promise<void> {
  await using reprise = await openReprise({ store, durability: 'process' });
  for (const id of ['one', 'two']) {
    const session = await reprise.createSession(id);
    for (let batch = 0; batch < 6; batch++) {
      await session.append({
        type: 'message.added',
        data: { message: { role: 'user', content: `${batch} `.repeat(500) } },
      });
      await session.append(Array.from({ length: 600 }, (_, index) => note(`note ${batch}-${index}`)));
    }
  }
  const session = await reprise.session('two');
  await session.erase('main@5');
  await session.fork('main@2000', { name: 'child' });
  for (let batch = 0; batch < 3; batch++)
    await session.branch('child').append(Array.from({ length: 500 }, () => note('on child')));
}

/** Where every branch of every session ends. */
export async function digestsOf(reprise: Reprise): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for await (const { session } of reprise.sessions()) {
    const { branches } = await (await reprise.session(session)).toJSON();
    found[session] = branches.map(({ branch, head, digest }) => [branch, head, digest]);
  }
  return found;
}

/** Which process to kill, how often, and what the target had before. */
export interface KillPlan {
  readonly from: string;
  readonly to: string;
  readonly kills: number;
  readonly seed: number;
  readonly earlier?: Record<string, unknown>;
}

/**
 * Kills copies again and again. After each kill what has its name is whole and verifies, as it was before or as it is at
 * the source, and what is not whole has no name; the last copy is left to end, and has written nothing twice.
 */
export async function killCopies({ from, to, kills, seed, earlier = {} }: KillPlan): Promise<void> {
  const random = new Random(seed);
  await using source = await openReprise({ store: from, readOnly: true });
  const wanted = await digestsOf(source);
  for (let kill = 0; kill < kills; kill++) {
    const said = await copyAndKill(from, to, 1 + random.below(6));
    if (said.at(-1) === 'done') break;
    await using target = await openReprise({ store: to });
    for (const [session, digests] of Object.entries(await digestsOf(target))) {
      if (/^(one|two)~copying-[0-9a-f]{12}$/.test(session)) continue;
      expect([wanted[session], earlier[session]]).toContainEqual(digests);
      await expectVerified(target, session);
    }
  }
  expect((await copyAndKill(from, to, Number.POSITIVE_INFINITY)).at(-1)).toBe('done');
  await using target = await openReprise({ store: to });
  expect(await digestsOf(target)).toEqual(wanted);
  expect((await source.copy(target)).sessions.map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged']);
  for (const id of Object.keys(wanted)) await expectVerified(target, id);
}

async function expectVerified(reprise: Reprise, id: string): Promise<void> {
  const session = await reprise.session(id);
  for (const { branch } of (await session.toJSON()).branches)
    expect(await session.branch(branch).verify()).toMatchObject({ ok: true });
}
