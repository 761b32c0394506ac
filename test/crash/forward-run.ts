import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';

const child = fileURLToPath(new URL('./forward-child.ts', import.meta.url));
const turnsMax = 4;
const agents = ['a', 'b', 'c'];

/** Runs a fleet forward in a process, which is killed in the middle of a turn if it prints so many lines. */
async function runChild(store: string, file: string, killAt: number): Promise<void> {
  const words = ['--disable-warning=ExperimentalWarning', child, store, file, String(turnsMax)];
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'reprise-compile-cache') };
  const runner = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let [output, errors] = ['', ''];
  runner.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.split('\n').length > killAt) runner.kill('SIGKILL');
  });
  runner.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code, signal] = (await once(runner, 'close')) as [number | null, string | null];
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`The run ended with ${code ?? signal}: ${errors}`);
}

/** Kills a run forward again and again, lets it end, and checks that it left what one that was never killed leaves. */
export async function forwardRun(store: string, file: string): Promise<void> {
  const expected = expectedClaims();
  {
    await using reprise = await openReprise(store);
    const session = await reprise.createSession('demo');
    for (const agent of agents) await session.spawn(agent, {});
  }
  for (const killAt of [2, 5, Number.POSITIVE_INFINITY]) await runChild(store, file, killAt);
  await using reprise = await openReprise(store);
  const session = await reprise.session('demo');
  expect((await session.beliefs.list()).map(({ claim }) => claim)).toEqual(expected);
  const turns = await all(session.replay({ filter: { types: ['turn.started', 'turn.ended'] } }));
  const begun = turns.filter(({ type }) => type === 'turn.started').map(({ turn, agent }) => `${turn} ${agent}`);
  const each = Array.from({ length: turnsMax }, (_, turn) => agents.map((agent) => `${turn + 1} ${agent}`)).flat();
  expect(begun, 'each turn is in the view once').toEqual(each);
  const ended = turns.filter(({ type, agent, data }) => type === 'turn.ended' && agent && data['outcome'] === 'ok');
  expect(ended).toHaveLength(each.length);
  for (const agent of agents) expect((await session.state.as(agent).get('turn')).value).toBe(turnsMax);
  const paid = readFileSync(file, 'utf8').trim().split('\n');
  expect(paid.toSorted(), 'what was paid and recorded is not paid again').toEqual(each.toSorted());
  expect((await session.verify()).ok).toBe(true);
}

/** Returns what stands after a run that was never killed: each agent counts what it sees. */
function expectedClaims(): readonly string[] {
  const standing = new Map<string, string>();
  for (let turn = 1; turn <= turnsMax; turn++)
    for (const agent of agents) standing.set(agent, `turn ${turn}: ${standing.size} seen`);
  return [...standing.values()];
}
