import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { root } from '../../docs/workshop.ts';

/** The program that the package installs. */
export const program: string = join(root, 'src/cli/bin.ts');

/** How a command is watched. */
export interface WatchOptions {
  /** The heap it may use, in MiB. */
  readonly heapMb?: number;
  /** A file for how much of the store it has read. */
  readonly readsFile?: string;
  /** Sends it Ctrl-C when it has read so many rows. */
  readonly signalAtRow?: number;
}

interface StartOptions extends WatchOptions {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly words: readonly string[];
}

/** How many rows of a SQLite store a command had read when it first printed something, and when it ended. */
export interface Reads {
  readonly rowsAtFirst: number | null;
  readonly rows: number;
}

/** A command in a process of its own, which can be watched and stopped while it runs. */
export class Started {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  stdout = '';
  stderr = '';
  readonly #looks = new Set<() => void>();
  readonly #ended: Promise<unknown>;
  readonly #readsFile: string | undefined;

  constructor({ folder, env, words, heapMb, readsFile, signalAtRow }: StartOptions) {
    const flags = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
    if (readsFile !== undefined) flags.push('--import', join(import.meta.dirname, 'reads-at-exit.ts'));
    this.#readsFile = readsFile;
    this.child = spawn(process.execPath, [...flags, program, ...words], {
      cwd: folder,
      env: { ...env, READS_FILE: readsFile, READS_SIGNAL: String(signalAtRow ?? '') },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#ended = once(this.child, 'close');
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => this.#take('stdout', text));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => this.#take('stderr', text));
    // A command that does not read its input may be gone before it is written.
    this.child.stdin.on('error', () => undefined);
  }

  /** Waits until the command has written what is looked for; fails if it ends first. */
  until(isWritten: (started: this) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (!isWritten(this)) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
      void this.#ended.then(() => reject(new Error(`The command ended having written ${this.stdout}${this.stderr}`)));
    });
  }

  /** Waits for its end and returns the exit code. */
  async ended(): Promise<number | null> {
    await this.#ended;
    return this.child.exitCode;
  }

  /** How much it had read, once it has ended. */
  get reads(): Reads {
    return JSON.parse(readFileSync(this.#readsFile ?? '', 'utf8')) as Reads;
  }

  #take(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text;
    for (const look of this.#looks) look();
  }
}
