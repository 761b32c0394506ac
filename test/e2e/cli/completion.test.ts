/** Completion as the shells themselves run it. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../docs/workshop.ts';
import { dropFixtures, type Place, refundPlace } from './run.ts';

let place: Place;
const has = (shell: string): boolean => spawnSync(shell, ['--version']).error === undefined;

beforeAll(async () => {
  place = await refundPlace();
  mkdirSync(join(place.folder, 'bin'));
  place.write('bin/reprise', `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'src/cli/bin.ts')}" "$@"\n`);
  chmodSync(join(place.folder, 'bin/reprise'), 0o755);
  for (const shell of ['bash', 'zsh', 'fish']) {
    place.write(`completion.${shell}`, (await place.run(['completion', shell])).stdout);
  }
});
afterAll(() => {
  place[Symbol.dispose]();
  dropFixtures();
});

/** Runs a script in a shell that finds `reprise`. */
function shell(name: string, script: string): string {
  const env = place.env({ PATH: `${join(place.folder, 'bin')}:${process.env['PATH'] ?? ''}` });
  const { stdout, stderr } = spawnSync(name, ['-c', script], { cwd: place.folder, env, encoding: 'utf8' });
  return stdout + stderr;
}

const inBash = (...words: readonly string[]): string[] =>
  shell(
    'bash',
    `source completion.bash; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _reprise; printf '%s\\n' "\${COMPREPLY[@]}"`,
  )
    .trim()
    .split('\n');

test.skipIf(!has('bash'))('bash completes commands, options of the command, and refs of the store', () => {
  expect(inBash('reprise', 're')).toEqual(['replay', 'rewind', 'revert', 'redo', 'resume', 'retry', 'repair']);
  expect(inBash('reprise', 'fork', '--to')).toEqual(['--tools', '--tool-input', '--tool-result']);
  expect(inBash('reprise', 'verify', 'ref')).toEqual(['refund']);
  expect(inBash('reprise', 'verify', 'refund/c')).toEqual(['refund/careful']);
  expect(shell('bash', 'cat completion.bash')).toContain('compopt -o nospace');
});

test.skipIf(!has('bash'))(
  'bash completes agents and fleets after --with, and no refs after an option with a value',
  () => {
    place.write(
      'reprise.config.mjs',
      `console.log('hello'); export default { agents: { support: async () => 'x' }, fleets: { night: async () => {} } };`,
    );
    expect(inBash('reprise', 'resume', 'refund', '--with', '')).toEqual(['support', 'demo']);
    expect(inBash('reprise', 'retry', 'refund', '--with', 'su')).toEqual(['support']);
    expect(inBash('reprise', 'forward', 'refund', '--with', '')).toEqual(['night', 'demo']);
    expect(inBash('reprise', 'fork', 'refund@2', '--name', 'ref')).toEqual(['']);
    expect(inBash('reprise', 'fork', '--name', 'x', 'ref')).toEqual(['refund']);
  },
);

test.skipIf(!has('zsh'))('zsh takes its script', () => {
  expect(shell('zsh', 'autoload -U compinit; compinit -u -D; source ./completion.zsh && whence -w _reprise')).toContain(
    'function',
  );
});

test.skipIf(!has('fish'))('fish completes commands', () => {
  expect(shell('fish', "source completion.fish; complete -C 'reprise fo'")).toContain('fork');
});

test('every script has every command and the options of each', async () => {
  for (const name of ['bash', 'zsh', 'fish']) {
    const { stdout } = await place.run(['completion', name]);
    for (const word of ['delete-session', 'tool-result', 'namespace']) expect(stdout).toContain(word);
  }
});

test('refs of a store that is not there are none, quietly', async () => {
  expect(await place.run(['completion', 'refs', '--store', 'sqlite:no.db'])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect((await place.run(['completion', 'tcsh'])).code).toBe(2);
});
