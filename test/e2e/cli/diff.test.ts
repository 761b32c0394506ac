/** `diff`: where two histories part, beside each other or one below the other, and as JSON. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventDraft } from '../../../src/index.ts';
import { demoPlace, type Place, refundEvents, shapeOf } from './run.ts';

let place: Place;

const notes = (texts: readonly string[]): EventDraft[] => texts.map((text) => ({ type: 'note.added', data: { text } }));

beforeAll(async () => {
  place = await demoPlace();
  await using reprise = await place.open();
  const session = await reprise.createSession('refund');
  await session.append(refundEvents());
  await session.fork('main', { name: 'same' });
  const careful = await session.fork('main@2', {
    name: 'careful',
    prompt: 'Order 7 arrived broken. Please look it up first.',
  });
  await careful.append([
    ...refundEvents().slice(2, 4),
    {
      type: 'call.ended',
      agent: 'support',
      run: 'run-1',
      data: { call: 'c2', kind: 'tool', name: 'lookup', outcome: 'ok' },
    },
    { type: 'run.ended', agent: 'support', run: 'run-1', data: { outcome: 'error' } },
  ]);
  const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
  await (await reprise.createSession('letters')).append(notes(letters));
  const changed = letters.map((letter) => ('cdt'.includes(letter) ? `${letter} is another` : letter));
  await (await reprise.createSession('others')).append(notes(changed));
});
afterAll(() => place[Symbol.dispose]());

async function diff(columns: number, ...words: readonly string[]): Promise<string> {
  const { stdout } = await place.run(['diff', ...words], { env: { COLUMNS: String(columns) } });
  expect(stdout.split('\n').filter((line) => line.length > columns)).toEqual([]);
  return stdout;
}

describe('the verdict', () => {
  test('is 0 for what is the same, an unedited fork included', async () => {
    const { code, stdout } = await place.run(['diff', 'refund', 'refund/same']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^The same: 6 events with the same behavior\.\nThey share everything up to main@7\.\n/);
  });

  test('is 1 for what is not, and says where they part', async () => {
    const { code, stdout, stderr } = await place.run(['diff', 'refund', 'refund/careful']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Different: \d+ equal, \d+ changed, \d+ only left, \d+ only right\.\n/);
    expect(stdout).toContain(
      'They share everything up to main@2.\nThey first differ at @2 on the left and @4 on the right.\n',
    );
    expect(stderr).toContain('next: reprise show refund@2\n');
  });

  test('says when they have no beginning in common, or come together again', async () => {
    const { stdout } = await place.run(['diff', 'letters', 'others']);
    expect(stdout).toContain(
      'They have no shared history.\nThey first differ at @3 on the left and @3 on the right. They come back together later.',
    );
  });
});

test('no sentence is wider than a narrow terminal, and what cost nothing says so', async () => {
  const text = await diff(40, 'refund', 'refund/careful');
  expect(text.split('\n').filter((line) => line.length > 40)).toEqual([]);
  expect(await diff(40, 'refund', 'letters')).toMatch(/\ncost +\$0\.0021 +–\n/);
});

describe('the differences', () => {
  test('stand one below the other on a narrow terminal, words marked', async () => {
    const text = await diff(80, 'refund', 'refund/careful');
    expect(text).toContain('--- refund\n+++ refund/careful\n');
    expect(text).toContain('    - Order 7 arrived broken. Please [-refund-] it.\n');
    expect(text).toContain('    + Order 7 arrived broken. Please {+look+} it{+ up first+}.\n');
    expect(text).toMatch(/\n- 5 +call\.started +refund/);
    expect(text).toMatch(/\n\+ 7 +call\.ended +lookup/);
  });

  test('stand side by side on a wide one', async () => {
    const text = await diff(160, 'refund', 'refund/careful');
    expect(text).toMatch(/\nrefund +│ {3}refund\/careful\n/);
    expect(text).toMatch(/\n {4}2 message\.added +user: .* │ ~ {5}4 message\.added +user: /);
    expect(text).toMatch(
      /message\.content: Order 7 arrived broken\. Please \[-refund-\] it\. +│ +message\.content: Order 7/,
    );
    expect(text).toMatch(/\n {4}5 call\.started .* │ -\n/);
  });

  test('have what is equal around them left out, and counted', async () => {
    const text = await diff(80, 'letters', 'others');
    const rows = text.split('\n').filter((line) => /^[ ~+-] (\d|⋯)/.test(line));
    expect(rows.map((row) => row.slice(0, 24).trimEnd())).toEqual([
      '  ⋯ 1 equal event',
      '  2→2     note.added',
      '~ 3→3     note.added',
      '~ 4→4     note.added',
      '  5→5     note.added',
      '  ⋯ 13 equal events',
      '  19→19   note.added',
      '~ 20→20   note.added',
      '  21→21   note.added',
    ]);
  });

  test('are as many as --limit says, and the rest is counted', async () => {
    const { stdout, stderr } = await place.run(['diff', 'letters', 'others', '--limit', '1']);
    expect(stdout.split('\n').filter((line) => line.startsWith('~'))).toHaveLength(1);
    expect(stdout).not.toContain('4→4');
    expect(stderr).toContain('… 2 more differences. To see all, add --limit 3\n');
    const none = await place.run(['diff', 'letters', 'others', '--limit', '0']);
    expect([none.code, none.stdout.includes('note.added')]).toEqual([1, false]);
  });

  test('are coloured where colours are wanted', async () => {
    const { stdout } = await place.run(['diff', 'refund', 'refund/careful'], { env: { FORCE_COLOR: '1' } });
    expect(stdout).toContain('\u001b[31m\u001b[4mrefund\u001b[24m\u001b[39m it.');
    expect(stdout).not.toContain('[-');
  });
});

test('what both took stands beside each other', async () => {
  const text = await diff(80, 'refund', 'demo');
  expect(text).toMatch(/\n +LEFT +RIGHT\nevents +7 +27\ntokens in +812 +0\ntokens out +33 +0\ncost +\$0\.0021 +\?\n/);
});

test('--state shows how the states of projections differ, each under its name', async () => {
  const text = await diff(100, 'refund', 'refund/careful', '--state', 'summary', '--state', 'metadata');
  expect(text).toMatch(/\nstate summary\n.*\n/);
  expect(text).toContain('  ~ outcome: ok → error\n');
  expect(text).toContain('\nstate metadata\n  the same\n');
});

test('--strict pairs by position and looks at types alone', async () => {
  const ran = await place.run(['diff', 'refund', 'refund/careful', '--strict']);
  expect([ran.code, ran.stdout.split('\n').slice(0, 3)]).toEqual([
    1,
    ['diff refund vs refund/careful', 'matched: 4', 'diverged at seq 5'],
  ]);
  expect((await place.run(['diff', 'letters', 'others', '--strict'])).code).toBe(0);
  const cut = await place.run(['diff', 'refund', 'refund/careful', '--strict', '--limit', '3'], {
    env: { COLUMNS: '40' },
  });
  expect([cut.stdout.split('\n').length, cut.stderr]).toEqual([4, '… 3 more differences. --json has all of them.\n']);
  const json = await place.json('diff', 'refund', 'refund/careful', '--strict');
  expect(json).toMatchObject({
    identical: false,
    matched: 4,
    divergedAt: { left: 5, right: 7 },
    onlyLeft: 1,
    onlyRight: 0,
  });
});

describe('JSON', () => {
  test('has every difference unless a limit is given', async () => {
    const found = await place.json('diff', 'letters', 'others');
    expect(Object.keys(found)).toEqual(
      'identical forkPoint divergedAt sustainedAt matched changed onlyLeft onlyRight hunks states'.split(' '),
    );
    expect(found).toMatchObject({
      identical: false,
      forkPoint: null,
      divergedAt: { left: 3, right: 3 },
      matched: 23,
      changed: 3,
    });
    expect((found['hunks'] as { left: number }[]).map(({ left }) => left)).toEqual([3, 4, 20]);
    expect((await place.json('diff', 'letters', 'others', '--limit', '1'))['hunks']).toHaveLength(1);
    expect(shapeOf(await place.json('diff', 'refund', 'refund/careful', '--state', 'metadata'))).toMatchSnapshot();
  });

  test.each([
    ['a projection that there is not', ['--state', 'sumary'], 'projection.invalid'],
    ['a limit that is no number', ['--limit', 'x'], 'usage'],
    ['--strict with --state', ['--strict', '--state', 'summary'], 'usage'],
  ])('%s is wrong usage', async (_, words, code) => {
    const ran = await place.run(['diff', 'letters', 'others', ...words, '--json']);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect((JSON.parse(ran.stderr) as { error: { code: string } }).error.code).toBe(code);
  });
});
