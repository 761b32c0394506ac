import { hash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversation, openReprise, RepriseError, summary } from '../../src/index.ts';
import { fewOrAll } from '../how-many.ts';
import { recordStore } from '../seeds/recorded-store.ts';
import { all } from '../verbs/verb-case.ts';
import { Random, seedOfRun } from './random.ts';

const pageBytes = 8_192;
// More of them, and others, when asked for: `REPRISE_FLIPS=2000 REPRISE_SEED=$RANDOM npx vitest run test/crash/damage.test.ts`.
const flips = Number(process.env['REPRISE_FLIPS'] ?? fewOrAll(8, 40));
const rounds = fewOrAll(4, 12);
let directory = '';
let template = '';
let expected: Readonly<Record<string, string>> = {};
let count = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-damage-'));
  template = join(directory, 'template.db');
  await recordStore(template);
  await using reprise = await openReprise(`sqlite:${template}`);
  // Enough that the file has pages of every kind, and branches of its trees.
  const session = await reprise.session('demo');
  await session.append(
    Array.from({ length: 400 }, (_, index) => ({ type: 'note.added', data: { text: `${index} `.repeat(60) } })),
  );
  expected = await looksOf(template);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function copy(): string {
  const path = join(directory, `${count++}.db`);
  copyFileSync(template, path);
  return path;
}

const digestOf = (path: string): string => hash('sha256', readFileSync(path));

/** The result of each look, as text: what it found, or the code of the error. */
async function looksOf(path: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const look = async (name: string, what: () => Promise<unknown>): Promise<void> => {
    try {
      found[name] = JSON.stringify(await what());
    } catch (error) {
      if (!(error instanceof RepriseError)) throw new Error(`${name} threw something else`, { cause: error });
      expect(error.hint, `${error.code}: ${error.message}`).toBeDefined();
      found[name] = `error ${error.code}`;
    }
  };
  await look('open', async () => {
    await using reprise = await openReprise(`sqlite:${path}`);
    await look('sessions', () => all(reprise.sessions()));
    await look('session', async () => {
      const session = await reprise.session('demo');
      for (const branch of ['main', 'x', 'y']) {
        await look(`replay ${branch}`, () => all(session.branch(branch).replay()));
        await look(`raw ${branch}`, () => all(session.branch(branch).replay({ history: 'raw' })));
        await look(`summary ${branch}`, () => session.at(branch).fold(summary));
        await look(`conversation ${branch}`, () => session.at(branch).fold(conversation, { snapshots: false }));
        await look(`verify ${branch}`, () => session.branch(branch).verify());
      }
      return 'opened';
    });
    await look('health', async () => (await reprise.health()).problems);
    return 'opened';
  });
  return found;
}

/** Holds what a damaged file gives against what it gave: the same, a clear error, or a verification that fails. */
async function checkDamaged(path: string, how: string): Promise<'same' | 'refused' | 'shown'> {
  const found = await looksOf(path);
  const wrong = Object.keys(expected).filter((name) => found[name] !== expected[name]);
  if (wrong.length === 0) return 'same';
  const errors = Object.values(found).filter((value) => value.startsWith('error '));
  for (const error of errors)
    expect(
      [
        'error store.damaged',
        'error part.damaged',
        'error part.missing',
        'error session.not-found',
        'error branch.not-found',
      ],
      how,
    ).toContain(error);
  for (const name of wrong.filter((held) => held.startsWith('raw ') && found[held]?.startsWith('error ') !== true)) {
    // A history that reads differently without an error must not verify. A lost end is listed as not covered.
    const verdict = found[name.replace('raw', 'verify')];
    const isCut = expected[name]?.startsWith(found[name]?.slice(0, -1) ?? 'nothing') === true;
    if (isCut) expect(verdict, `${how}: ${name}`).toContain('cut tail');
    else if (found[name] !== undefined) expect(verdict, `${how}: ${name}`).not.toContain('"ok":true');
  }
  return errors.length > 0 ? 'refused' : 'shown';
}

describe('a damaged file is never taken for a good one', () => {
  test('cut at any page, or anywhere', async () => {
    const random = new Random(seedOfRun());
    const size = statSync(template).size;
    for (let round = 0; round < rounds; round++) {
      const path = copy();
      const at = round % 2 === 0 ? pageBytes * random.below(size / pageBytes) : random.below(size);
      truncateSync(path, at);
      if (at === 0) continue;
      expect(await checkDamaged(path, `cut at ${at} of ${size}`), `cut at ${at}`).not.toBe('same');
    }
  });

  test('with a flipped bit anywhere', async () => {
    const seed = seedOfRun();
    console.log(`damage seed ${seed}`);
    const random = new Random(seed);
    const outcomes = { same: 0, refused: 0, shown: 0 };
    for (let round = 0; round < flips; round++) {
      const path = copy();
      const bytes = readFileSync(path);
      const at = random.below(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
      writeFileSync(path, bytes);
      outcomes[await checkDamaged(path, `seed ${seed}: a bit flipped at ${at}`)]++;
    }
    expect(outcomes.refused + outcomes.shown).toBeGreaterThan(0);
  });

  test('with whole pages of zeros or noise', async () => {
    const random = new Random(seedOfRun());
    const pages = statSync(template).size / pageBytes;
    for (let round = 0; round < rounds; round++) {
      const path = copy();
      const bytes = readFileSync(path);
      const at = pageBytes * random.below(pages);
      for (let index = at; index < at + pageBytes; index++) bytes[index] = round % 2 === 0 ? 0 : random.below(256);
      writeFileSync(path, bytes);
      await checkDamaged(path, `page at ${at} overwritten`);
    }
  });
});

describe('a column or a field that lost its form is refused', () => {
  const losses: Readonly<Record<string, string>> = {
    'a table without a column': 'ALTER TABLE sessions RENAME COLUMN root TO rook',
    'a version that is text': "UPDATE events SET version = ''",
    'a version below the first': 'UPDATE events SET version = 0',
    'a turn that is text': "UPDATE events SET turn = 'x'",
    'a time that is bytes': "UPDATE events SET time = x'00'",
    'a payload that is bytes': "UPDATE events SET data = x'00' WHERE marker IS NULL",
    'a structural event of an unknown type': "UPDATE events SET type = 'event.x' WHERE marker = 1",
    'a revert without its seqs': field('event.reverted', '"seqs"'),
    'a replacement without its target': field('event.replaced', '"seq"'),
    'a replacement of a version below the first': field('event.replaced', '"version":1', '"version":0'),
    'an erasure without its parts': field('payload.erased', '"parts"'),
  };

  function field(type: string, from: string, to = '"x"'): string {
    return `UPDATE events SET data = replace(data, '${from}', '${to}') WHERE type = '${type}' AND instr(data, '${from}') > 0`;
  }

  test.each(Object.entries(losses))('%s', async (how, sql) => {
    const path = copy();
    const database = new DatabaseSync(path);
    expect(database.prepare(sql).run().changes > 0 || sql.startsWith('ALTER'), how).toBe(true);
    database.close();
    expect(await checkDamaged(path, how)).toBe('refused');
  });
});

describe('what is not a store is refused and left alone', () => {
  const impostors: Readonly<Record<string, (path: string) => void>> = {
    'a file of garbage': (path) => writeFileSync(path, 'This is not a database. '.repeat(1_000)),
    'a store whose header was zeroed': (path) => {
      const bytes = readFileSync(template);
      bytes.fill(0, 0, 100);
      writeFileSync(path, bytes);
    },
    'a few bytes': (path) => writeFileSync(path, 'note'),
    'the database of a different program': (path) => {
      const database = new DatabaseSync(path);
      database.exec('CREATE TABLE people (name TEXT); INSERT INTO people VALUES (1)');
      database.close();
    },
  };

  test.each(Object.entries(impostors))('%s', async (_, make) => {
    const path = join(directory, `${count++}.db`);
    make(path);
    const before = digestOf(path);
    const error = await openReprise(`sqlite:${path}`).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RepriseError);
    expect(error).toMatchObject({ code: 'store.damaged', hint: expect.stringMatching(/\w/) });
    expect(digestOf(path)).toBe(before);
  });

  test('a directory in its place', async () => {
    const path = join(directory, `${count++}.db`);
    mkdirSync(path);
    const error = await openReprise(`sqlite:${path}`).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store.unsupported', message: expect.stringMatching(/directory/) });
  });

  test('an empty file is a new store', async () => {
    const path = join(directory, `${count++}.db`);
    writeFileSync(path, '');
    await using reprise = await openReprise(`sqlite:${path}`);
    const session = await reprise.createSession('demo');
    await session.append({ type: 'note.added', data: { text: 'a' } });
    expect(await session.verify()).toMatchObject({ ok: true, events: 1 });
  });

  test('a file of a newer release, also one that became so while it was open', async () => {
    const path = copy();
    const newer = (): void => {
      const database = new DatabaseSync(path);
      database.exec('PRAGMA user_version = 99');
      database.close();
    };
    {
      await using reprise = await openReprise(`sqlite:${path}`);
      const session = await reprise.session('demo');
      newer();
      const late = await session.append({ type: 'note.added', data: { text: 'b' } }).catch((error: unknown) => error);
      expect(late).toMatchObject({ code: 'store.newer', hint: expect.stringMatching(/newer release/) });
      await expect(all(session.replay())).rejects.toMatchObject({ code: 'store.newer' });
    }
    const before = digestOf(path);
    await expect(openReprise(`sqlite:${path}`)).rejects.toMatchObject({
      code: 'store.newer',
      hint: expect.stringMatching(/nothing was changed/),
    });
    await expect(openReprise({ store: `sqlite:${path}`, readOnly: true })).rejects.toMatchObject({
      code: 'store.newer',
    });
    expect(digestOf(path)).toBe(before);
  });
});

describe('damage of the log beside the file', () => {
  /** A store as a killed process leaves it: its last commits are only in the log. */
  async function withLog(): Promise<{ readonly path: string; readonly heads: readonly string[] }> {
    const source = copy();
    const path = join(directory, `${count++}.db`);
    const heads: string[] = [];
    await using reprise = await openReprise(`sqlite:${source}`);
    const session = await reprise.session('demo');
    for (let index = 0; index < 30; index++) {
      await session.append({ type: 'note.added', data: { text: `late ${index}`.repeat(50) } });
      heads.push((await session.locate()).digest);
    }
    copyFileSync(source, path);
    copyFileSync(`${source}-wal`, `${path}-wal`);
    return { path, heads };
  }

  async function checkPrefix(path: string, heads: readonly string[]): Promise<number> {
    await using reprise = await openReprise(`sqlite:${path}`);
    const session = await reprise.session('demo');
    expect(await session.verify()).toMatchObject({
      ok: true,
      notCovered: ['cut tail', 'rewritten chain', 'names', 'key index', 'clocks', 'snapshots'],
    });
    const { digest } = await session.locate();
    const kept = heads.indexOf(digest) + 1;
    if (kept < heads.length)
      expect(await session.verify({ head: heads.at(-1) as string })).toMatchObject({
        ok: false,
        notCovered: ['names', 'key index', 'clocks', 'snapshots'],
      });
    await session.append({ type: 'note.added', data: { text: 'life goes on' } });
    expect((await session.verify()).ok).toBe(true);
    return kept;
  }

  test('none: all of it is there', async () => {
    const { path, heads } = await withLog();
    expect(await checkPrefix(path, heads)).toBe(heads.length);
  });

  test('deleted: what is left is a sound beginning, and a digest held elsewhere shows what is gone', async () => {
    const { path, heads } = await withLog();
    rmSync(`${path}-wal`);
    expect(await checkPrefix(path, heads)).toBe(0);
  });

  test('cut or flipped anywhere: what is left is a sound beginning, never half a commit', async () => {
    const random = new Random(seedOfRun());
    const { path, heads } = await withLog();
    const log = readFileSync(`${path}-wal`);
    const file = readFileSync(path);
    for (let round = 0; round < rounds; round++) {
      const damaged = Buffer.from(log);
      const at = random.below(log.length);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << random.below(8));
      const next = join(directory, `${count++}.db`);
      writeFileSync(next, file);
      writeFileSync(`${next}-wal`, round % 2 === 0 ? damaged : log.subarray(0, at));
      await checkPrefix(next, heads);
    }
    expect(existsSync(path)).toBe(true);
  });
});
