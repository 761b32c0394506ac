import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Line, linesOf } from './writer-report.ts';

/** When to kill: so long after the start, after the store was open, or after it acknowledged an append. */
export interface KillTime {
  readonly after: 'start' | 'opened' | 'appended';
  readonly ms: number;
}

const child = fileURLToPath(new URL('./writer-child.ts', import.meta.url));

/** Runs a writer, kills it with SIGKILL, and gives what it said. */
export async function runAndKill(
  path: string,
  {
    seed,
    round,
    kill,
    migrating,
  }: { readonly seed: number; readonly round: number; readonly kill: KillTime; readonly migrating: boolean },
): Promise<readonly Line[]> {
  const writer = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      child,
      path,
      String(seed),
      String(round),
      ...(migrating ? ['--migrating'] : []),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Reading the sources takes longer than the work; what was compiled once is kept.
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'reprise-compile-cache') },
    },
  );
  let output = '';
  let errors = '';
  let timer: NodeJS.Timeout | undefined;
  const killLater = (): void => {
    timer ??= setTimeout(() => writer.kill('SIGKILL'), kill.ms);
  };
  if (kill.after === 'start') killLater();
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (kill.after !== 'appended' || linesOf(output).some(({ kind }) => kind === 'appended')) killLater();
  });
  writer.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code, signal] = (await once(writer, 'close')) as [number | null, string | null];
  clearTimeout(timer);
  if (signal !== 'SIGKILL') throw new Error(`The writer ended by itself with ${code ?? signal}: ${errors}`);
  return linesOf(output);
}
