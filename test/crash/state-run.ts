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

/** One process that runs transactions; gives what it said when it is gone. */
async function runWriter(store: string, name: string, seed: number, killMs: number | undefined, workMs: number) {
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

/** Several processes at once on one store, some of them killed and followed by another; gives how many commits there are. */
export async function stateRun(
  store: string,
  { seed, writers, rounds }: { readonly seed: number; readonly writers: number; readonly rounds: number },
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
      lines.push(...(await runWriter(store, name, seed + choice.below(1e9), killMs, 500)));
    }
    return lines;
  };
  const lanes = Array.from({ length: writers }, (_, index) => lane(`w${index}`, new Random(random.below(1e9))));
  const lines = (await Promise.all(lanes)).flat();
  try {
    return await checkState(store, lines);
  } catch (error) {
    throw new Error(`Seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
  }
}
