/** Saved runs of other systems: import and export. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { Place } from './run.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
  return () => place[Symbol.dispose]();
});

const saved = (id: string): string =>
  `${JSON.stringify(
    {
      trace_id: id,
      metadata: { agent_name: 'researcher' },
      events: [
        { type: 'run_started', message: 'Agent run started', payload: { prompt: 'Who wrote it?' } },
        { type: 'run_completed', message: 'Done', payload: { output: 'Nobody knows.' } },
      ],
    },
    null,
    2,
  )}\n`;

test('import makes the store and a session for each file; what comes out again has the same bytes', async () => {
  place.write('one.json', saved('one'));
  place.write('two.json', saved('two'));
  const { code, stdout, stderr } = await place.run(['import', 'one.json', 'two.json']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^one imported from one\.json: \d+ events\ntwo imported from two\.json: \d+ events\n$/);
  expect(stderr).toContain('reprise replay two');
  expect((await place.run(['show', 'one'])).stdout).toContain('Who wrote it?');
  expect((await place.run(['export', 'one', '--format', 'shipit'])).stdout).toBe(saved('one'));
  await place.run(['export', 'two', '--format', 'shipit', '--to', 'back.json']);
  expect(readFileSync(join(place.folder, 'back.json'), 'utf8')).toBe(saved('two'));
});

test('import reads stdin, and the session may be named', async () => {
  const { code } = await place.run(['import', '-', '--format', 'shipit', '--session', 'mine'], { stdin: saved('x') });
  expect(code).toBe(0);
  expect((await place.run(['export', 'mine', '--format', 'shipit'])).stdout).toBe(saved('x'));
});

test.each([
  ['a file that is not there', ['import', 'gone.json'], 2, /Cannot import "gone\.json"/],
  ['a file of another kind', ['import', 'text.txt'], 2, /Cannot import "text\.txt": .*no known format/],
  ['a format that nobody knows', ['import', 'one.json', '--format', 'shpit'], 2, /no format "shpit"/],
  ['one session for two files', ['import', 'one.json', 'two.json', '--session', 's'], 2, /into one session/],
  ['a session that exists', ['import', 'one.json'], 1, /Choose a different id with --session/],
])('%s is told with the name of the file', async (name, words, code, told) => {
  place.write('one.json', saved('one'));
  place.write('two.json', saved('two'));
  place.write('text.txt', 'Dear diary');
  if (name.includes('exists')) await place.run(['import', 'one.json']);
  const ran = await place.run(words);
  expect([ran.code, ran.stdout]).toEqual([code, '']);
  expect(ran.stderr).toMatch(told);
});
