/** A folder in which the programs of the documents run: `reprise` there is the source of this repository. */
import { execFile } from 'node:child_process';
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
const frameworks = ['@ai-sdk', '@langchain', '@modelcontextprotocol', '@openai', 'ai', 'langchain', 'zod'];

const parallel = 2;
const timeoutMs = 30_000;

/** A temporary folder for programs; dispose of it when done. */
export class Workshop {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'reprise-docs-'));
  #running = 0;
  readonly #waiting: (() => void)[] = [];

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
  async run(path: string): Promise<Ran> {
    if (this.#running >= parallel) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
    try {
      return await ran(process.execPath, [path], dirname(path));
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

function ran(file: string, args: readonly string[], cwd: string): Promise<Ran> {
  const { REPRISE_STORE: _, ...own } = process.env;
  // Every program loads the same source; without types once is enough.
  const env = { ...own, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/docs') };
  return new Promise((resolve) => {
    execFile(file, [...args], { cwd, env, encoding: 'utf8', timeout: timeoutMs }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, stdout, stderr });
    });
  });
}
