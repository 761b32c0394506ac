/** What `npm start` shows to someone who has never seen Reprise. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../docs/workshop.ts';

test('npm start tells the story in five parts: record, look, fork, diff, prove', () => {
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined };
  const printed = execFileSync(process.execPath, [join(root, 'scripts/story.ts')], { encoding: 'utf8', env });
  const headings = [...printed.matchAll(/^([1-9]) {2}(\w+)/gm)].map((match) => `${match[1]} ${match[2]}`);
  expect(headings).toEqual(['1 Record', '2 Look', '3 Fork', '4 Say', '5 And']);
  expect(printed).toContain('500 → 50');
  expect(printed).toContain('verified: ');
  expect(printed).not.toContain('NOT verified');
});
