import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openReprise } from '../../src/index.ts';
import { Random } from './random.ts';
import { checkState, type StateLine } from './state-aftermath.ts';

const child = fileURLToPath(new URL('./state-child.ts', import.meta.url));

// However busy the machine is: those that are not killed go on together until each has committed so often.
const commitsMin = 12;
const patienceMs = 45_000;

/** One process that runs transactions. */
class Writer {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<unknown[]>;
  /** Settles when it has opened the store, or could not. */
  readonly opened: Promise<unknown>;
  #output = '';
  #errors = '';

  constructor(store: string, name: string, seed: number) {
    const words = ['--disable-warning=ExperimentalWarning', child, store, name, String(seed)];
    this.#process = spawn(process.execPath, words, {
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'reprise-compile-cache') },
    });
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => (this.#errors += text));
    this.#closed = once(this.#process, 'close');
    this.opened = Promise.race([once(this.#process.stdout, 'data'), this.#closed]);
  }

  /** Whether it has done its part, or never will. */
  get isDone(): boolean {
    const commits = this.#output.split('"kind":"committed"').length - 1;
    return commits >= commitsMin || this.#process.exitCode !== null;
  }

  /** Gives what it said when it is gone. */
  async end(how: 'killed' | 'asked'): Promise<StateLine[]> {
    if (how === 'killed') this.#process.kill('SIGKILL');
    else this.#process.stdin.end();
    const [code, signal] = (await this.#closed) as [number | null, string | null];
    if (signal !== 'SIGKILL' && code !== 0) throw new Error(`The writer ended with ${code ?? signal}: ${this.#errors}`);
    // A line that was cut in half by the kill says nothing.
    const lines = this.#output.slice(0, this.#output.lastIndexOf('\n') + 1).split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as StateLine);
  }
}

/** How many processes, and what happens to the store meanwhile. */
export interface StateRunOptions {
  readonly seed: number;
  readonly writers: number;
  readonly rounds: number;
  /** Goes on until the writers are done; then the store must be as it should be. */
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
  const names = Array.from({ length: writers }, (_, index) => `w${index}`);
  const begin = (name: string): Writer => new Writer(store, name, seed + random.below(1e9));
  const lane = async (name: string): Promise<StateLine[]> => {
    const lines: StateLine[] = [];
    for (let round = 1; round < rounds; round++) {
      const writer = begin(name);
      await writer.opened;
      await wait(random.below(400));
      lines.push(...(await writer.end('killed')));
    }
    return lines;
  };
  const last = async (): Promise<StateLine[]> => {
    const all = names.map(begin);
    const end = performance.now() + patienceMs;
    while (!all.every(({ isDone }) => isDone) && performance.now() < end) await wait(20);
    return (await Promise.all(all.map((writer) => writer.end('asked')))).flat();
  };
  const done = new AbortController();
  const disturbing = disturb(done.signal);
  const lines: StateLine[] = [];
  try {
    lines.push(...(await Promise.all(names.map(lane))).flat(), ...(await last()));
  } finally {
    done.abort();
    await disturbing;
  }
  try {
    return await checkState(store, lines);
  } catch (error) {
    throw new Error(`Seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
  }
}
