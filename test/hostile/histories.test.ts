/** Hostile histories and hostile moments, from outside: on a file, and on a server where the tests run there. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits.ts';
import { seq } from '../../src/core/point.ts';
import type { BranchSummary } from '../../src/core/store/event-store.ts';
import { stretchesOf } from '../../src/engine/proving/verify.ts';
import { openReprise, type RepriseError } from '../../src/index.ts';
import { point } from '../../src/testing/contract/contract-case.ts';
import { isOnServer, Place } from '../e2e/cli/run.ts';
import { holdWriters } from '../e2e/cli/tamper.ts';
import { allRows } from '../postgres/place.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

/** Everything that the store holds, as bytes: its files with the log, or every row. */
async function stored(): Promise<string> {
  if (isOnServer) return (await allRows(place.url)).toString('utf8');
  const folder = dirname(place.store);
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: RepriseError) => error.code,
  );

describe('text that takes time', () => {
  // With a quadratic rule this would take minutes, and the test would be given up.
  test('near matches of every masking rule are recorded, a million characters of each', async () => {
    await using reprise = await place.open();
    const session = await reprise.createSession('long');
    const recorder = await session.record({ facts: false });
    for (const near of ['eyJ-', 'sk-ant-', 'AKIA', '://a:', 'password=', '-----BEGIN ', '\\"key\\":', 'ghp_ '])
      await recorder.call({ kind: 'tool', name: 'read', effect: 'pure' }, () => near.repeat(1_000_000 / near.length));
    expect((await recorder.close()).failed).toBe(0);
  });

  test('patterns that backtrack without end elsewhere answer, and those that cannot be run are refused', async () => {
    {
      await using reprise = await place.open();
      const session = await reprise.createSession('long');
      await session.append({ type: 'note.added', data: { text: `${'a'.repeat(100_000)}${' '.repeat(100_000)}!` } });
    }
    for (const pattern of [String.raw`\s+$`, '(a+)+$', '(a|a)*b', '(.*)*x'])
      expect([pattern, await place.run(['replay', 'long', '--filter', `text=${pattern}`])]).toMatchObject([
        pattern,
        { code: 0 },
      ]);
    const refused = await place.run(['replay', 'long', '--filter', String.raw`text=(a)\1`, '--json']);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'filter.invalid' } });
  });

  test('a number of a hundred thousand digits is read or refused', async () => {
    for (const text of [`1${'0'.repeat(100_000)}`, `0.${'0'.repeat(100_000)}`, `0.1${'0'.repeat(100_000)}1`]) {
      place.write('long.json', text);
      const { code } = await place.run(['set', 'numbers', 'n', '--file', 'long.json']);
      expect(code).toBeOneOf([0, 2]);
    }
  });
});

test('an irreversible call whose start another process keeps from being stored is not made', async () => {
  const reprise = await openReprise({ store: place.url, busyWaitMs: 50 });
  const session = await reprise.createSession('pay');
  const recorder = await session.record({ facts: false, onFailure: 'fail', onError: () => undefined });
  const letGo = await holdWriters(place);
  let made = 0;
  const paid = recorder.call({ kind: 'tool', name: 'pay', effect: 'irreversible', input: { amount: 9 } }, () => ++made);
  expect([await codeOf(paid), made]).toEqual(['recording.failed', 0]);
  await letGo();
  await recorder.close().catch(() => undefined);
  await reprise.close();
});

test('no secret of these forms is stored', async () => {
  const secrets = ['hunter2-one', 'hunter2-two', 'hunter2@three', 'hunter2/four', '4929123412341234', 'hunter2-six'];
  {
    await using reprise = await place.open();
    const recorder = await (await reprise.createSession('masked')).record({ facts: false });
    const tool = (output: unknown): Promise<unknown> =>
      recorder.call({ kind: 'tool', name: 'read', effect: 'pure' }, () => output);
    await tool(`{"text":"first\\n\\"password\\": \\"${secrets[0]}\\""}`);
    await tool(`redis://:${secrets[1]}@cache:6379`);
    await tool(`postgres://ada:${secrets[2]}@db/runs`);
    await tool(`postgres://ada:${secrets[3]}@db/runs`);
    await tool({ password: Number(secrets[4]) });
    await tool({ secret: { nested: [secrets[5]] }, env: `PGPASSWORD=${secrets[5]}` });
    await recorder.close();
  }
  const held = await stored();
  expect(secrets.filter((secret) => held.includes(secret))).toEqual([]);
});

describe('what was erased or deleted', () => {
  const forms = [
    JSON.stringify({ inner: JSON.stringify({ text: 'Müller/Lüdenscheid 77' }) }),
    '{"text":"M\\u00fcller\\/L\\u00fcdenscheid 77"}',
  ];

  test('is in no file of the store, in whatever form it was', async () => {
    const reprise = await place.open();
    const session = await reprise.createSession('person');
    await session.append(forms.map((text) => ({ type: 'note.added', data: { text } })));
    await session.append({ type: 'note.added', data: { text: 'Müller/Lüdenscheid 77' } });
    await session.erase('main@3');
    expect(await stored()).not.toMatch(/denscheid/);
    const gone = await reprise.createSession('gone');
    await gone.append({ type: 'note.added', data: { text: 'a word that was deleted' } });
    await gone.delete({ confirm: 'gone' });
    await reprise.close();
    expect(await stored()).not.toContain('a word that was deleted');
  });

  test('keeps its id: a new event under it is refused, not swallowed', async () => {
    await using reprise = await place.open();
    const session = await reprise.createSession('person');
    const id = '01a1e196-f3df-7100-8984-61ba76a85256';
    await session.append({ id, type: 'note.added', data: { text: 'old' } });
    await session.erase('main@1');
    expect(await codeOf(session.append({ id, type: 'note.added', data: { text: 'new' } }))).toBe('event.erased');
  });
});

test('the lineage of a branch at the allowed depth is followed to its beginning, and a deeper one is damage', () => {
  const chain = (depth: number): BranchSummary[] =>
    Array.from({ length: depth + 1 }, (_, index) => ({
      branch: `b${index}`,
      head: seq(index + 1),
      ...(index === 0 ? {} : { parent: point(`b${index - 1}`, index) }),
    })) as unknown as BranchSummary[];
  const lineage = (depth: number): number => {
    const branches = chain(depth);
    const last = branches.at(-1) as BranchSummary;
    return stretchesOf(new Map(branches.map((held) => [held.branch, held])), last).length;
  };
  expect(lineage(limits.lineageDepthMax)).toBe(limits.lineageDepthMax + 1);
  expect(() => lineage(limits.lineageDepthMax + 1)).toThrow('does not lead to a beginning');
});
