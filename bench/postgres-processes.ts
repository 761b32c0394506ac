/** Two processes that append to PostgreSQL at the same time: to one branch, and to separate sessions. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { alternate, type Contender, forTheRecord, minimum, type Row, spread, timeEach } from './measure.ts';
import { BenchServer, openPostgres } from './postgres.ts';
import type { Workspace } from './workspace.ts';

const writers = 32;

/** Rows of several processes. */
export async function benchPostgresProcesses(workspace: Workspace): Promise<Row[]> {
  const { isQuick, diskRounds } = workspace.sizes;
  const each = isQuick ? 2 : 8;
  await using server = await BenchServer.start();
  const rows: Row[] = [];
  for (const [what, sessions] of [
    ['one branch', 1],
    [`${writers} sessions each`, writers],
  ] as const) {
    const url = server.storeUrl();
    await makeShared(url);
    await using first = await WriterProcess.start({ url, name: 'first', sessions, each });
    await using second = await WriterProcess.start({ url, name: 'second', sessions, each });
    const times = await alternate(isQuick ? 1 : diskRounds * 4, {
      alone: writing([first]),
      both: writing([first, second]),
    });
    rows.push(
      forTheRecord(
        `PostgreSQL: two processes of ${writers} writers that append to ${what}, against one of them alone`,
        `${(minimum(times.alone) / minimum(times.both)).toFixed(2)}×`,
        `appends a second of both together; least of ${times.both.length} rounds; ${spread(times.both)} an append against ${spread(times.alone)}`,
      ),
    );
  }
  return rows;

  function writing(processes: readonly WriterProcess[]): Contender {
    return () => timeEach(processes.length * writers * each, () => Promise.all(processes.map((held) => held.write())));
  }
}

async function makeShared(url: string): Promise<void> {
  await using opened = await openPostgres(url);
  await opened.reprise.session('shared', { create: true });
}

class WriterProcess implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(words: readonly string[]) {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, 'postgres-writer-process.ts'), ...words], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  static async start(options: {
    readonly url: string;
    readonly name: string;
    readonly sessions: number;
    readonly each: number;
  }): Promise<WriterProcess> {
    const { url, name, sessions, each } = options;
    const made = new WriterProcess([url, name, writers, sessions, each].map(String));
    await made.#told('ready');
    return made;
  }

  async write(): Promise<void> {
    this.#child.stdin.write('go\n');
    await this.#told('done');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin.write('end\n');
    await gone;
  }

  async #told(expected: string): Promise<void> {
    const { value } = await this.#lines.next();
    if (value !== expected) throw new Error(`A writing process said ${JSON.stringify(value)}, not "${expected}"`);
  }
}
