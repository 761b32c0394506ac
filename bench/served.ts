/** Starts and asks the server processes of the benchmarks. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** The memory of a server process, after a collection. */
export interface ServedMemory {
  readonly rss: number;
  /** Bytes that its code takes. */
  readonly held: number;
}

/** A server in a separate process. */
export class Served implements AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** The port of the bare socket. */
  readonly barePort: number;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(
    child: ChildProcessByStdio<Writable, Readable, null>,
    lines: AsyncIterator<string>,
    said: { readonly url: string; readonly token: string; readonly barePort: number },
  ) {
    this.#child = child;
    this.#lines = lines;
    this.url = said.url;
    this.token = said.token;
    this.barePort = said.barePort;
  }

  /** Serves the store of a path or a URL. */
  static async start(store: string, durability: 'disk' | 'process' = 'process'): Promise<Served> {
    const program = join(import.meta.dirname, 'server-process.ts');
    const child = spawn(process.execPath, ['--expose-gc', program, store, durability], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return new Served(child, lines, JSON.parse(String((await lines.next()).value)) as never);
  }

  /** Collects its garbage, and returns what is left. */
  async memory(): Promise<ServedMemory> {
    this.#child.stdin.write('memory\n');
    return JSON.parse(String((await this.#lines.next()).value)) as ServedMemory;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin.end('end\n');
    await ended;
  }
}
