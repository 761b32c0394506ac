import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';

const child = fileURLToPath(new URL('./belief-child.ts', import.meta.url));

/** How many commits each writer acknowledges before it is killed. */
const commitsMin = 8;

/** Starts a writer, kills it in the middle of its work, and returns the ids of the commits that it acknowledged. */
async function runAndKill(store: string, name: string): Promise<readonly string[]> {
  const writer = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, store, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'reprise-compile-cache') },
  });
  let output = '';
  let errors = '';
  const linesIn = (text: string): readonly string[] =>
    text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .slice(0, -1);
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (linesIn(output).length >= commitsMin) writer.kill('SIGKILL');
  });
  writer.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code, signal] = (await once(writer, 'close')) as [number | null, string | null];
  if (signal !== 'SIGKILL') throw new Error(`The writer ended with ${code ?? signal}: ${errors}`);
  return linesIn(output).map((line) => (JSON.parse(line) as { readonly id: string }).id);
}

/** Lets several processes commit to shared topics and to their own, kills them, and checks what is left. */
export async function beliefRun(store: string): Promise<number> {
  {
    await using reprise = await openReprise(store);
    await reprise.createSession('demo');
  }
  const acknowledged = (await Promise.all(['a', 'b', 'c'].map((name) => runAndKill(store, name)))).flat();
  await using reprise = await openReprise(store);
  const session = await reprise.session('demo');
  const committed = new Map((await all(session.replay())).map((event) => [event.id, event]));
  for (const id of acknowledged) expect(committed.has(id), `${id} was acknowledged`).toBe(true);
  const turns = [...new Set([...committed.values()].map(({ turn }) => turn))];
  for (const turn of turns) {
    const topics = (await session.at({ story: turn }).beliefs.list()).map(({ topic }) => topic);
    expect(topics, `one side stands on each topic at turn ${turn}`).toEqual([...new Set(topics)]);
  }
  // Every contradiction that was found has its verdict: appends are whole.
  const types = [...committed.values()].map(({ type }) => type);
  const counted = (type: string): number => types.filter((held) => held === type).length;
  expect(counted('contradiction.detected')).toBe(counted('contradiction.settled'));
  expect((await session.verify()).ok).toBe(true);
  return acknowledged.length;
}
