import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openReprise } from '../../src/index.ts';
import { Random } from './random.ts';
import { checkState, type StateLine } from './state-aftermath.ts';

const child = fileURLToPath(new URL('./state-child.ts', import.meta.url));

// However busy the machine is: a writer that is not killed goes on until it has committed so often.
const commitsMin = 12;
const workMs = 300;
const patienceMs = 45_000;

/** One process that runs transactions; gives what it said when it is gone. */
async function runWriter(store: string, name: string, seed: number, killMs: number | undefined) {
  const writer = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, store, name, String(seed)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'reprise-compile-cache') },
  });
  let [output, errors] = ['', ''];
  writer.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const closed = once(writer, 'close');
  const opened = new Promise<void>((resolve) => {
    writer.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      resolve();
    });
  });
  await Promise.race([opened, closed]);
  await wait(killMs ?? workMs);
  const commits = (): number => output.split('"kind":"committed"').length - 1;
  const end = performance.now() + patienceMs;
  if (killMs === undefined)
    while (commits() < commitsMin && writer.exitCode === null && performance.now() < end) await wait(20);
  if (killMs === undefined) writer.stdin.end();
  else writer.kill('SIGKILL');
  const [code, signal] = (await closed) as [number | null, string | null];
  if (signal !== 'SIGKILL' && code !== 0) throw new Error(`The writer ended with ${code ?? signal}: ${errors}`);
  // A line that was cut in half by the kill says nothing.
  const lines = output
    .slice(0, output.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as StateLine);
}

/** How many processes, and what happens to the store meanwhile. */
export interface StateRunOptions {
  readonly seed: number;
  readonly writers: number;
  readonly rounds: number;
  /** Goes on until it is told that the writers are done; then the store must be as it should be. */
  readonly disturb?: (done: AbortSignal) => Promise<void>;
}

/** Several processes at once on one store, some of them killed and followed by another; gives how many commits there are. */
export async function stateRun(
  store: string,
  { seed, writers, rounds, disturb = async () => undefined }: StateRunOptions,
): Promise<number> {
  {
    await using reprise = await openReprise(store);
    await reprise.createSession('demo');
  }
  const random = new Random(seed);
  const lane = async (name: string, choice: Random): Promise<StateLine[]> => {
    const lines: StateLine[] = [];
    for (let round = 0; round < rounds; round++) {
      const killMs = round === rounds - 1 ? undefined : choice.below(400);
      lines.push(...(await runWriter(store, name, seed + choice.below(1e9), killMs)));
    }
    return lines;
  };
  const lanes = Array.from({ length: writers }, (_, index) => lane(`w${index}`, new Random(random.below(1e9))));
  const done = new AbortController();
  const disturbing = disturb(done.signal);
  const lines = (await Promise.all(lanes).finally(() => done.abort())).flat();
  await disturbing;
  try {
    return await checkState(store, lines);
  } catch (error) {
    throw new Error(`Seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
  }
}
