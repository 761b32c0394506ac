/** A folder in which the programs of the documents run: `reprise` there is the source of this repository. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { doors } from '../../scripts/doors.ts';

/** The root of the repository. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** How a program ended and what it printed. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Packages that readers have installed besides Reprise. */
const frameworks = [
  '@ai-sdk',
  '@anthropic-ai',
  '@google',
  '@langchain',
  '@modelcontextprotocol',
  '@openai',
  'ai',
  'openai',
  'zod',
];

const parallel = 2;
// It only decides when a program that hangs is given up.
const timeoutMs = 120_000;

/** A temporary folder for programs; dispose of it when done. */
export class Workshop {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'reprise-docs-'));
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /** Processes that import programs, each of which loads the frameworks once. */
  readonly #importers: ChildProcess[] = [];

  constructor() {
    this.write('package.json', '{ "type": "module" }\n');
    const exports = Object.entries(doors).map(([name, { file }]) => [
      name.replace('reprise', '.'),
      `./${basename(file, '.ts')}.js`,
    ]);
    this.write(
      'node_modules/reprise/package.json',
      JSON.stringify({ name: 'reprise', type: 'module', exports: Object.fromEntries(exports) }),
    );
    for (const { file } of Object.values(doors))
      this.write(
        `node_modules/reprise/${basename(file, '.ts')}.js`,
        `export * from ${JSON.stringify(`file://${root}${file}`)};\n`,
      );
    for (const name of frameworks)
      symlinkSync(join(root, 'node_modules', name), join(this.folder, 'node_modules', name));
    this.write('tsconfig.json', JSON.stringify(typeCheck()));
  }

  /** Writes a file and gives its whole path. */
  write(path: string, text: string): string {
    const whole = join(this.folder, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
    return whole;
  }

  /** Runs a file with the Node that runs the tests, in the folder of the file; two at a time. */
  run(path: string): Promise<Ran> {
    return this.#inTurn(() => ran(process.execPath, [path], dirname(path)));
  }

  /** Imports a file whose output does not matter, in a process that has imported others; two at a time. */
  import(path: string): Promise<Ran> {
    return this.#inTurn(async () => {
      const importer = this.#importers.pop() ?? startImporter();
      const answered = Promise.race([once(importer, 'message'), once(importer, 'exit')]);
      importer.send(path);
      const [answer] = (await answered) as [{ readonly failed?: string } | number | null];
      // A program that fails here, or ends the process, runs alone: its own failure is the one that counts.
      if (answer === null || typeof answer === 'number' || answer.failed !== undefined)
        return await ran(process.execPath, [path], dirname(path));
      this.#importers.push(importer);
      return { code: 0, stdout: '', stderr: '' };
    });
  }

  async #inTurn(work: () => Promise<Ran>): Promise<Ran> {
    if (this.#running >= parallel) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  /** Checks the types of everything that was written, as a reader with `strict` would see them. */
  check(): Promise<Ran> {
    return ran(join(root, 'node_modules/.bin/tsc'), ['--project', this.folder, '--pretty', 'false'], this.folder);
  }

  [Symbol.dispose](): void {
    for (const importer of this.#importers) importer.disconnect();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function typeCheck(): object {
  return {
    compilerOptions: {
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable', 'esnext.array'],
      module: 'nodenext',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      paths: Object.fromEntries(Object.entries(doors).map(([name, { file }]) => [name, [join(root, file)]])),
    },
    include: ['*/*.ts'],
    exclude: ['node_modules'],
  };
}

function startImporter(): ChildProcess {
  const program = join(import.meta.dirname, 'example-child.ts');
  return fork(program, { env: plainEnv(), execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

function plainEnv(): NodeJS.ProcessEnv {
  const { REPRISE_STORE: _, ...own } = process.env;
  // Every program loads the same source; without types once is enough.
  return { ...own, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/docs') };
}

function ran(file: string, args: readonly string[], cwd: string): Promise<Ran> {
  const env = plainEnv();
  return new Promise((resolve) => {
    execFile(file, [...args], { cwd, env, encoding: 'utf8', timeout: timeoutMs }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, stdout, stderr });
    });
  });
}
