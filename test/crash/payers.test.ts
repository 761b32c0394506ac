/** Two processes that resume two branches of one session at the same moment: what cannot be taken back is done once. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { recordLoop, says } from '../verbs/little-agent.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-payers-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const child = fileURLToPath(new URL('./payer-child.ts', import.meta.url));
const bills = 12;

interface Payer {
  readonly process: ChildProcessWithoutNullStreams;
  readonly says: AsyncIterator<string>;
}

function startPayer(path: string, name: string): Payer {
  const words = ['--disable-warning=ExperimentalWarning', child, path, name, String(bills)];
  const running = spawn(process.execPath, words);
  running.stderr.pipe(process.stderr);
  return { process: running, says: createInterface({ input: running.stdout })[Symbol.asyncIterator]() };
}

test('an irreversible call that two processes begin on two branches is made by at most one of them (T10)', async () => {
  const path = join(directory, 'payers.db');
  {
    await using reprise = await openReprise(`sqlite:${path}`);
    const session = await reprise.createSession('demo');
    await recordLoop(session, { model: () => says('How?') }, ['Pay.']);
    for (let bill = 0; bill < bills; bill++)
      for (const name of ['a', 'b']) await session.fork('main@2', { name: `${name}-${bill}` });
  }
  const payers = ['a', 'b'].map((name) => startPayer(path, name));
  const heard = () => Promise.all(payers.map(async ({ says: told }) => (await told.next()).value as string));
  expect(await heard()).toEqual(['ready', 'ready']);
  const outcomes: string[] = [];
  for (let bill = 0; bill < bills; bill++) {
    for (const { process: running } of payers) running.stdin.write('go\n');
    outcomes.push((await heard()).join());
  }
  for (const { process: running } of payers) running.stdin.end();
  expect(outcomes.filter((outcome) => outcome === 'paid,paid')).toEqual([]);
  expect(outcomes.every((outcome) => /^(paid|refused),(paid|refused)$/.test(outcome))).toBe(true);
});
