import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/index.ts';
import { answersOf } from './history-answers.ts';
import { countingPlatform, recordHistory } from './recorded-history.ts';

const histories = join(import.meta.dirname, 'histories');
const versions = readdirSync(histories).sort();
const { version: current } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
) as {
  readonly version: string;
};

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-compat-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const expectedOf = (version: string): unknown =>
  JSON.parse(readFileSync(join(histories, version, 'expected.json'), 'utf8'));

async function answersAt(path: string): Promise<unknown> {
  const platform = countingPlatform();
  const store = await openSqliteStore({ path, platform });
  try {
    return JSON.parse(JSON.stringify(await answersOf(store, platform)));
  } finally {
    await store.close();
  }
}

describe('what a release once wrote is read forever', () => {
  test('this release has its history', () => {
    expect(versions).toContain(current);
  });

  test.each(versions)('I3 %s gives exactly what it gave, with its snapshots and without', async (version) => {
    const path = join(directory, `${version}.db`);
    copyFileSync(join(histories, version, 'store.db'), path);
    expect(await answersAt(path)).toEqual(expectedOf(version));
    const platform = countingPlatform();
    const store = await openSqliteStore({ path, platform });
    const { sessions } = await store.sessions({ limit: 100 });
    for (const session of sessions) {
      await store.dropSnapshots(session);
      await store.reindex(session);
    }
    await store.close();
    expect(await answersAt(path)).toEqual(expectedOf(version));
  });

  test.each(versions)('%s is small enough to keep', (version) => {
    const bytes = ['store.db', 'expected.json'].reduce(
      (sum, name) => sum + statSync(join(histories, version, name)).size,
      0,
    );
    expect(bytes).toBeLessThan(400_000);
  });

  test('recording twice gives the same bytes, and behaves as the history that was kept', async () => {
    const [one, two] = ['one', 'two'].map((name) => join(directory, `${name}.db`)) as [string, string];
    await recordHistory(one);
    await recordHistory(two);
    const answers = await answersAt(one);
    expect(answers).toEqual(await answersAt(two));
    expect(behaviourOf(answers)).toEqual(behaviourOf(expectedOf(current)));
  });
});

/** What does not depend on how often a release asks for the time, for ids and for salts. */
function behaviourOf(answers: unknown): unknown {
  const sessions = answers as { readonly branches: readonly Record<string, unknown>[] }[];
  return sessions.map(({ branches }) =>
    branches.map(({ branch, parent, head, view, fingerprint, metadata, keys }) => {
      return { branch, parent, head, view, fingerprint, metadata, keys };
    }),
  );
}
