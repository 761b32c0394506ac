/** Processes that run one command after the other, so that only the first of them has to load the code. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';

/** One command, as the child is asked for it. */
export interface WarmRequest {
  readonly words: readonly string[];
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Written to both streams after the output of the command, followed by its exit code. */
  readonly mark: string;
}

/** How a command ended and what it wrote. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const program = join(import.meta.dirname, 'warm-child.ts');

/** Processes without a command. Two commands at once run in two processes. */
const idle: WarmProcess[] = [];

/** Runs a command in a process that has run others before, or in a new one if all are busy. */
export async function runWarm(command: Omit<WarmRequest, 'mark'>, coldEnv: NodeJS.ProcessEnv): Promise<Ran> {
  const configs = configsAbove(command.folder);
  const found = idle.findIndex((each) => each.canLoad(configs));
  const [held = new WarmProcess(coldEnv)] = found < 0 ? [] : idle.splice(found, 1);
  const ran = await held.run(command, configs);
  if (held.isAlive) idle.push(held);
  return ran;
}

const loadable = ['package.json', ...['ts', 'mts', 'js', 'mjs'].map((ending) => `reprise.config.${ending}`)];

/** The text of each file that Node loads once in a process and a command may load, by path; empty if it is not there. */
function configsAbove(folder: string): ReadonlyMap<string, string> {
  const held = new Map<string, string>();
  for (let at = folder; ; at = dirname(at)) {
    for (const path of loadable.map((name) => join(at, name)))
      held.set(path, existsSync(path) ? readFileSync(path, 'utf8') : '');
    if (dirname(at) === at) return held;
  }
}

/** A process that runs commands. */
class WarmProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  readonly #loaded = new Map<string, string>();

  constructor(env: NodeJS.ProcessEnv) {
    this.#child = fork(program, { env, execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
    // It ends with the test file: nothing waits for it but a command that runs in it.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  get isAlive(): boolean {
    return this.#child.connected;
  }

  /** Whether none of these configurations was loaded here with a different text. */
  canLoad(configs: ReadonlyMap<string, string>): boolean {
    return this.isAlive && [...configs].every(([path, text]) => (this.#loaded.get(path) ?? text) === text);
  }

  async run(command: Omit<WarmRequest, 'mark'>, configs: ReadonlyMap<string, string>): Promise<Ran> {
    for (const [path, text] of configs) this.#loaded.set(path, text);
    const mark = `<${randomUUID()}>`;
    const outputs = Promise.all([this.#child.stdout, this.#child.stderr].map((stream) => textUntil(stream, mark)));
    this.#child.send({ ...command, mark } satisfies WarmRequest);
    const [stdout, stderr] = await outputs;
    // Without the mark the command ended the process.
    const code = stdout?.code ?? (await this.#ended);
    return { code, stdout: stdout?.text ?? '', stderr: stderr?.text ?? '' };
  }
}

/** Reads what a command writes to a stream, up to the mark or the end of the process. */
function textUntil(stream: Readable | null, mark: string): Promise<{ readonly text: string; readonly code?: number }> {
  if (stream === null) throw new Error('The process has no such stream');
  const chunks: string[] = [];
  let tail = '';
  stream.setEncoding('utf8');
  return new Promise((resolve) => {
    const done = (found: { readonly text: string; readonly code?: number }): void => {
      stream.off('data', take).off('close', close);
      resolve(found);
    };
    const take = (chunk: string): void => {
      chunks.push(chunk);
      tail = (tail + chunk).slice(-2 * mark.length);
      const code = new RegExp(`${mark}(\\d+)\n$`).exec(tail)?.[1];
      if (code === undefined) return;
      const text = chunks.join('');
      done({ text: text.slice(0, text.lastIndexOf(mark)), code: Number(code) });
    };
    const close = (): void => done({ text: chunks.join('') });
    stream.on('data', take).once('close', close);
  });
}
