/** A process that is killed while it resumes leaves a branch that says so, and that the next one can resume. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { conversation, openReprise, runs, type Session } from '../../src/index.ts';
import { until } from '../until.ts';
import { countedRefund, littleAgent, recordLoop, says } from '../verbs/little-agent.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-resume-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const child = fileURLToPath(new URL('./resume-child.ts', import.meta.url));

/** Records a question on `main`, forks it as `x`, and gives the digest of `main`. */
async function begin(path: string): Promise<string> {
  await using reprise = await openReprise(`sqlite:${path}`);
  const session = await reprise.createSession('demo');
  await recordLoop(session, { model: () => says('Which order?') }, ['Refund it.']);
  await session.fork('main@2', { name: 'x' });
  return (await session.locate()).digest;
}

async function resumeAndKill(path: string, where: 'model' | 'tool'): Promise<void> {
  const running = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, path, where], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(running.stdout, 'data');
  // The start of the call it is in is on its way to the disk.
  await using reprise = await openReprise({ store: `sqlite:${path}`, readOnly: true });
  const session = await reprise.session('demo');
  await until(async () => {
    const last = (await Array.fromAsync(session.at('x').replay())).at(-1);
    return last?.type === 'call.started' && last.data['kind'] === where;
  });
  running.kill('SIGKILL');
  await once(running, 'close');
}

const runsOf = async (session: Session) =>
  (await session.at('x').fold(runs)).runs.filter(({ run }) => run !== null).map(({ status }) => status);

test('killed while a model answers, the branch is resumed by the next process, and the source is untouched', async () => {
  const path = join(directory, 'model.db');
  const digest = await begin(path);
  await resumeAndKill(path, 'model');
  await using reprise = await openReprise(`sqlite:${path}`);
  const session = await reprise.session('demo');
  expect((await session.locate()).digest).toBe(digest);
  expect((await session.at('x').verify()).ok).toBe(true);
  expect(await runsOf(session)).toEqual(['open', 'open']);
  const seen: number[] = [];
  const { text } = await session.branch('x').resume(
    littleAgent({
      model: ({ messages }) => {
        seen.push(messages.length);
        return says('Done.');
      },
    }),
  );
  expect([text, seen]).toEqual(['Done.', [3]]);
  expect(await runsOf(session)).toEqual(['open', 'open', 'ok']);
  const { messages } = await session.at('x').fold(conversation);
  expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
});

test('killed in the middle of an irreversible call, it is in doubt: the next process does not repeat it unasked', async () => {
  const path = join(directory, 'tool.db');
  const digest = await begin(path);
  await resumeAndKill(path, 'tool');
  await using reprise = await openReprise(`sqlite:${path}`);
  const session = await reprise.session('demo');
  expect((await session.locate()).digest).toBe(digest);
  const refund = countedRefund('irreversible');
  const agent = littleAgent({ model: () => says('Done.'), tools: { refund } });
  await expect(session.branch('x').resume(agent)).rejects.toMatchObject({
    code: 'effect.refused',
    message: expect.stringContaining('nobody knows whether it happened'),
  });
  expect(refund.made).toEqual([]);
  const { asked, result } = await session.branch('x').resume(agent, { ask: async () => 'run' });
  expect([asked, result, refund.made]).toEqual([1, 'Done.', [{ order: 7 }]]);
  expect(await runsOf(session)).toEqual(['open', 'open', 'ok']);
});
