/** `npm start`, as somebody sees it who does not know Reprise. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  steady,
  storyPicture,
  storyPicturePath,
  storyScreen,
  storyText,
  storyTextPath,
} from '../../scripts/story-cast.ts';
import { root } from '../docs/workshop.ts';
import { plainEnv } from './cli/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'reprise-story-'));
const file = join(folder, 'demo.db');
let printed = '';
/** The page that the story ends in. */
let page = '';
beforeAll(async () => {
  const words = [join(root, 'scripts/story.ts'), '--file', file];
  const env = plainEnv({ COLUMNS: '100', NO_COLOR: '1', CI: 'true' });
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  for await (const text of child.stdout.setEncoding('utf8')) {
    printed += String(text);
    // It ends in the studio, which runs until it is stopped.
    if (!printed.includes('Press Ctrl-C')) continue;
    page = await (await fetch(/http:\S+(?=#token)/.exec(printed)?.[0] ?? '')).text();
    child.kill('SIGINT');
  }
  expect((await ended)[0]).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// How long it takes is a row of `npm run bench`.
test('npm start tells the story in five parts and ends in the studio', () => {
  const headings = [...printed.matchAll(/^([1-9]) {2}(\w+)/gm)].map((match) => `${match[1]} ${match[2]}`);
  expect(headings).toEqual(['1 Record', '2 Look', '3 Fork', '4 Diff', '5 Verify']);
  expect(printed).toContain('I refunded 500.');
  expect(printed, 'the better prompt changed what the agent did').toContain('I refunded 50.');
  expect(printed).toMatch(/^verified /m);
  expect(page).toContain('<div id="app">');
  expect(printed).toMatch(/^ {2}http:\/\/127\.0\.0\.1:\d+\/s\/refund\/main#token=rpt_/m);
});

/** A shell as the story tells to set it up. */
function typed(line: string): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const set = `reprise() { "${process.execPath}" "${join(root, 'src/cli/bin.ts')}" "$@"; }; export REPRISE_STORE="sqlite:${file}"`;
  return spawnSync('/bin/sh', ['-c', `${set}; ${line}`], { env: plainEnv(), encoding: 'utf8', input: '' });
}

test('every command that it printed works on the store that it left behind', () => {
  const commands = [...printed.matchAll(/^\$ (reprise .*)$/gm)].map((match) => match[1] as string);
  const verbs = commands.map((command) => command.split(' ')[1]);
  expect(verbs).toEqual(['list', 'replay', 'show', 'fork', 'resume', 'diff', 'verify']);
  for (const command of commands) {
    const own = command
      .replace('--name careful', '--name again')
      .replace('resume refund/careful', 'resume refund/again');
    // Money is not paid back without a word.
    if (command.startsWith('reprise resume')) {
      const { status, stderr } = typed(own.replace(' --simulate refund', ''));
      expect([status, stderr]).toEqual([1, expect.stringContaining('irreversible')]);
    }
    expect([own, typed(own).status]).toEqual([own, command.startsWith('reprise diff') ? 1 : 0]);
  }
});

test('the agent does what anybody tells it, afterwards and by hand', () => {
  const fork = `reprise fork refund@2 --name mine --prompt "Order 9 broke. Check what I paid, and refund it."`;
  expect(typed(fork).status).toBe(0);
  const { status, stdout, stderr } = typed('reprise resume refund/mine --with demo --effects refund=once');
  expect([status, stdout], stderr).toEqual([0, expect.stringContaining('I refunded 50.')]);
  expect(typed('reprise replay refund/mine --tool lookup').stdout).toContain('{"order":9}');
});

test('the cast in the documents is what it shows; `npm run docs:pages` writes it', () => {
  const screen = storyScreen();
  const kept = (path: string): string => readFileSync(join(root, path), 'utf8');
  expect(steady(kept(storyTextPath))).toBe(steady(storyText(screen)));
  const textOf = (picture: string): string => picture.replaceAll(/<[^>]*>/g, '');
  expect(steady(textOf(kept(storyPicturePath)))).toBe(steady(textOf(storyPicture(screen))));
});
