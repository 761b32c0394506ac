/** How long a person waits for the first line of a command, compared with `git log` on a repository of as many commits. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openReprise } from '../src/index.ts';
import { alternate, atMost, forTheRecord, median, type Row, spread, time } from './measure.ts';
import { sessionId, type Workspace } from './workspace.ts';

const root = join(import.meta.dirname, '..');
const firstPrintMs = 150;
// README.md promises it.
const storyMs = 5_000;

/** Rows of the command line. */
export async function benchCli(workspace: Workspace): Promise<Row[]> {
  const { events, rounds, isQuick } = workspace.sizes;
  // Its own history, since the end of its run comes on top.
  const path = await workspace.history(events - 1);
  await endRun(path);
  const program = builtProgram();
  const command =
    (...words: readonly string[]) =>
    () =>
      firstPrint(process.execPath, [program, ...words], { REPRISE_STORE: `sqlite:${path}` });
  const repository = makeRepository(workspace, events);
  const times = await alternate(isQuick ? 1 : Math.max(rounds, 3), {
    help: command('--help'),
    list: command('list'),
    show: command('show', `${sessionId}@${Math.floor(events / 2)}`),
    last: command('show', sessionId),
    git: () => firstPrint('git', ['-C', repository, '--no-pager', 'log']),
    node: () => firstPrint(process.execPath, ['-p', '0']),
  });
  const size = `${events.toLocaleString('en')} events`;
  const beside = `git log of as many commits ${spread(times.git)}, node alone ${spread(times.node)}`;
  const goal = (name: string, held: readonly number[], cause: string): Row =>
    atMost({
      name,
      value: median(held),
      limit: firstPrintMs,
      unit: ' ms',
      detail: `${spread(held)}; ${beside}`,
      cause,
    });
  return [
    goal('reprise --help: first print', times.help, 'starting Node and reading our code'),
    goal(`reprise list: first print, ${size}`, times.list, 'starting Node, and the summary of each branch'),
    goal(`reprise show: first print, in the middle of ${size}`, times.show, 'folding since the last snapshot'),
    atMost({
      name: 'npm start: the whole story',
      value: storyTime(workspace),
      limit: storyMs,
      unit: ' ms',
      detail: 'every command is a process of its own',
      cause: 'starting Node for each command',
    }),
    forTheRecord(`reprise show at the head of ${size}: first print`, time(median(times.last)), spread(times.last)),
  ];
}

/** Milliseconds that the story of `npm start` takes. */
function storyTime(workspace: Workspace): number {
  const words = [join(root, 'scripts/story.ts'), '--no-studio', '--file', workspace.path('story.db')];
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The story failed: ${stderr}`);
  return performance.now() - start;
}

/** Ends the run, as a recorder does: a summary is kept then. */
async function endRun(path: string): Promise<void> {
  await using reprise = await openReprise(`sqlite:${path}`);
  const session = await reprise.session(sessionId);
  await session.append({ type: 'run.ended', run: 'run-1', data: { outcome: 'ok' } });
}

/** The program as it is installed. */
/** Returns the built program; its source if it was not built. */
export function builtProgram(): string {
  const built = join(root, 'dist/cli/bin.js');
  return existsSync(built) ? built : join(root, 'src/cli/bin.ts');
}

/** Milliseconds until a process has written something. */
function firstPrint(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let waited: number | undefined;
    let said = '';
    child.stdout.on('data', () => (waited ??= performance.now() - start));
    child.stderr.on('data', (text: Buffer) => (said += String(text)));
    child.on('error', reject).on('close', () => {
      if (waited === undefined) reject(new Error(`${file} ${args.join(' ')} printed nothing: ${said}`));
      else resolve(waited);
    });
  });
}

/** A repository with so many commits, made by `git fast-import`. */
function makeRepository(workspace: Workspace, commits: number): string {
  const folder = workspace.path('repository');
  const git = (args: readonly string[], input?: string): void => {
    const { status, stderr } = spawnSync('git', args, { input, encoding: 'utf8', maxBuffer: 1 << 30 });
    if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr}`);
  };
  git(['init', '--quiet', '--initial-branch', 'main', folder]);
  const lines = Array.from({ length: commits }, (_, index) => {
    const text = `Change ${index}\n${'x'.repeat(500)}`;
    const who = `A Person <person@example.com> ${1_700_000_000 + index} +0000`;
    return `commit refs/heads/main\ncommitter ${who}\ndata ${text.length}\n${text}\nM 644 inline file\ndata 8\n${String(index).padStart(8, '0')}\n`;
  });
  git(['-C', folder, 'fast-import', '--quiet'], lines.join('\n'));
  return folder;
}
