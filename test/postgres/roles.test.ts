/** The roles of docs/guides/postgres.md, made with the SQL that is written there. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { hasCode } from '../../src/core/error.ts';
import { createNodePlatform, openReprise, type Reprise } from '../../src/index.ts';
import { openMigratedStore } from '../../src/store/postgres/postgres-store.ts';
import { rights } from '../../src/store/postgres/rights.ts';
import { blocksOf } from '../docs/pages.ts';
import { root } from '../docs/workshop.ts';
import { Place, refundEvents } from '../e2e/cli/run.ts';
import { verbSuite } from '../verbs/verb-suite.ts';
import { nextRelease } from './next-release.ts';
import { tamper } from './place.ts';

const database = `roles_${randomBytes(6).toString('hex')}`;
const server = inject('postgresUrl');
const roles = ['owner', 'writer', 'reader'] as const;
type Role = (typeof roles)[number];

const administrator = withUrl((url) => {
  url.pathname = `/${database}`;
});
const urlOf = (role: Role): string =>
  withUrl((url) => {
    url.pathname = `/${database}`;
    url.username = `reprise_${role}`;
    url.password = 'change me';
  });

function withUrl(change: (url: URL) => void): string {
  const url = new URL(server);
  change(url);
  return url.href;
}

const sql = blocksOf(readFileSync(join(root, 'docs/guides/postgres.md'), 'utf8'))
  .filter(({ kind }) => kind === 'sql')
  .map(({ lines }) => lines.join('\n'));
const about = (text: string): string => {
  const [found = '', ...others] = sql.filter((block) => block.includes(text));
  expect([found === '', others]).toEqual([false, []]);
  return found;
};

let place: Place;
const run = (role: Role, ...words: string[]) => place.run([...words, '--json', '--store', urlOf(role)]);
const errorOf = ({ stderr }: { readonly stderr: string }): { code: string; hint: string } =>
  (JSON.parse(stderr) as { error: { code: string; hint: string } }).error;

beforeAll(async () => {
  place = new Place();
  await tamper(server, `CREATE DATABASE ${database}`);
  await tamper(administrator, about('CREATE ROLE'));
  expect(await run('owner', 'doctor', '--create')).toMatchObject({ code: 0 });
  for (const text of ['reprise.events', 'SCHEMA reprise TO reprise_reader', 'DEFAULT PRIVILEGES'])
    await tamper(administrator, about(text));
  await using reprise = await openReprise(urlOf('owner'));
  await (await reprise.createSession('refund')).append(refundEvents());
});
afterAll(async () => {
  place[Symbol.dispose]();
  await tamper(server, `DROP DATABASE ${database} WITH (FORCE)`);
  for (const role of roles) await tamper(server, `DROP OWNED BY reprise_${role}; DROP ROLE reprise_${role}`);
});

describe('the writer', () => {
  it('can do what appends: the verbs that change a history work as they do for the owner', async () => {
    let count = 0;
    const open = (): Promise<Reprise> => {
      count++;
      return openReprise({ store: urlOf('writer'), namespace: `case-${count}`, durability: 'process' });
    };
    const { append, record, fork, edit, rewind, revert, redo, state, retry } = verbSuite;
    const denied: string[] = [];
    for (const cases of [append, record, fork, edit, rewind, revert, redo, state, retry])
      for (const held of cases.slice(0, 5)) {
        try {
          await held.run(open);
        } catch (error) {
          if (!isDenied(error)) throw error;
          denied.push(held.title);
        }
      }
    expect(count).toBeGreaterThan(40);
    expect(denied.filter((title) => !/erase|delete/i.test(title))).toEqual([]);
  });

  it('has in PostgreSQL the rights that an append needs, and no other', async () => {
    const [held] = await tamper<{ rights: string[] }>(
      administrator,
      `SELECT array_agg(DISTINCT concat_ws(' ', privilege_type, table_name) ORDER BY concat_ws(' ', privilege_type, table_name)) AS rights
       FROM information_schema.column_privileges WHERE grantee = 'reprise_writer' AND table_schema = 'reprise'`,
    );
    const needed = rights.filter(({ ability }) => ability !== 'erase');
    expect(held?.rights).toEqual([...new Set(needed.map(({ privilege, table }) => `${privilege} ${table}`))].sort());
    const [columns] = await tamper<{ names: string[] }>(
      administrator,
      `SELECT array_agg(table_name || '.' || column_name ORDER BY table_name || '.' || column_name) AS names
       FROM information_schema.column_privileges WHERE grantee = 'reprise_writer' AND privilege_type = 'UPDATE'`,
    );
    const updated = needed.filter(({ privilege }) => privilege === 'UPDATE');
    expect(columns?.names).toEqual(updated.map(({ table, column }) => `${table}.${column}`).sort());
    const [whole] = await tamper<{ kinds: string[] | null }>(
      administrator,
      `SELECT array_agg(DISTINCT privilege_type::text) AS kinds FROM information_schema.table_privileges WHERE grantee = 'reprise_writer'`,
    );
    expect(whole?.kinds?.sort()).toEqual(['INSERT', 'SELECT']);
  });

  it('is refused what is the owner’s with "store.denied": erasing, deleting, past the store and through it', async () => {
    for (const words of [
      ['erase', 'refund@2', '--yes'],
      ['delete-session', 'refund', '--yes'],
    ]) {
      const ran = await run('writer', ...words);
      expect([ran.code, errorOf(ran)]).toMatchObject([3, { code: 'store.denied' }]);
    }
    for (const statement of [
      'UPDATE events SET data = NULL',
      'DELETE FROM events',
      'TRUNCATE events',
      'UPDATE sessions SET name = NULL',
      'CREATE TABLE reprise.mine (x int)',
      'ALTER TABLE events ADD COLUMN x int',
      'DROP TABLE events',
      'DROP INDEX events_id',
    ])
      await expect(tamper(urlOf('writer'), statement), statement).rejects.toMatchObject({ code: '42501' });
    expect(await run('reader', 'verify', 'refund')).toMatchObject({ code: 0 });
  });

  it('cannot finish a copy, and is told who can: the owner goes on where it stopped', async () => {
    const file = `sqlite:${place.folder}/to-copy.db`;
    await place.json('set', 'copied', 'plan', '1', '--store', file);
    const refused = await place.run(['copy', file, urlOf('writer'), '--json']);
    expect([refused.code, errorOf(refused)]).toMatchObject([
      3,
      { code: 'store.denied', hint: expect.stringContaining('as the owner') },
    ]);
    expect(await place.json('copy', file, urlOf('owner'))).toMatchObject({ outcome: 'copied', written: 0 });
    expect(await run('reader', 'get', 'copied', 'plan')).toMatchObject({ code: 0 });
  });

  it('is sound to doctor, who says what it may and what to grant for the rest', async () => {
    const { code, stdout } = await run('writer', 'doctor');
    const found = JSON.parse(stdout) as Found;
    expect([code, found.ok]).toEqual([0, true]);
    expect(textOf(found, 'rights')).toBe('reprise_writer may read, append; it may not erase and delete, migrate');
    expect(found.advice).toMatchObject([
      { message: expect.stringMatching(/may not erase and delete: it lacks .*DELETE on sessions/) },
    ]);
  });
});

interface Found {
  readonly ok: boolean;
  readonly store: { readonly facts: readonly { readonly name: string; readonly text: string }[] };
  readonly advice: readonly { readonly message: string; readonly todo: string }[];
}
const textOf = (found: Found, wanted: string): string | undefined =>
  found.store.facts.find(({ name }) => name === wanted)?.text;

function isDenied(error: unknown): boolean {
  for (let held: unknown = error; held instanceof Error; held = held.cause)
    if (hasCode(held, 'store.denied')) return true;
  return false;
}

describe('the reader', () => {
  it('can look at everything', async () => {
    for (const words of [
      ['list'],
      ['replay', 'refund'],
      ['show', 'refund@4'],
      ['fold', 'refund'],
      ['tree', 'refund'],
      ['diff', 'refund', 'refund@4'],
      ['verify', 'refund'],
      ['fingerprint', 'refund'],
      ['counterfactual', 'refund', '--exclude', '5'],
      ['keys', 'refund'],
      ['export', 'refund', '--format', 'shipit'],
      ['doctor', '--verify'],
    ]) {
      const ran = await run('reader', ...words);
      expect([words[0], ran.code, ran.stderr]).toEqual([words[0], words[0] === 'diff' ? 1 : 0, '']);
    }
  });

  it('is refused every change with "store.denied" and a hint', async () => {
    for (const words of [
      ['set', 'refund', 'plan', '1'],
      ['set', 'another', 'plan', '1'],
      ['fork', 'refund@4'],
      ['edit', 'refund', '--drop', '5'],
      ['rewind', 'refund@4'],
      ['revert', 'refund@5'],
      ['erase', 'refund@2', '--yes'],
      ['delete-session', 'refund', '--yes'],
    ]) {
      const ran = await run('reader', ...words);
      expect([words[0], ran.code, ran.stdout]).toEqual([words[0], 3, '']);
      expect(errorOf(ran)).toMatchObject({ code: 'store.denied', hint: expect.stringContaining('reprise doctor') });
    }
    expect(await run('owner', 'verify', 'refund')).toMatchObject({ code: 0 });
  });

  it('is told by doctor the GRANT for each right it lacks, and they are enough', async () => {
    const { stdout } = await run('reader', 'doctor');
    const found = JSON.parse(stdout) as Found;
    expect(textOf(found, 'rights')).toBe('reprise_reader may read; it may not append, erase and delete, migrate');
    const grants = found.advice.map(({ todo }) => todo.replace(/^.*?:\n/, ''));
    expect(grants).toHaveLength(2);
    for (const grant of grants) await tamper(administrator, grant);
    expect(await run('reader', 'set', 'granted', 'plan', '1')).toMatchObject({ code: 0 });
    expect(await run('reader', 'erase', 'granted@1', '--yes')).toMatchObject({ code: 0 });
    expect(await run('reader', 'delete-session', 'granted', '--yes')).toMatchObject({ code: 0 });
    const after = JSON.parse((await run('reader', 'doctor')).stdout) as Found;
    expect(textOf(after, 'rights')).toBe('reprise_reader may read, append, erase and delete; it may not migrate');
    expect(after.advice).toEqual([]);
  });
});

describe('somebody without any right', () => {
  it('is told by every command and by doctor what to grant first, and it is enough to look', async () => {
    await tamper(administrator, "CREATE ROLE reprise_stranger LOGIN PASSWORD 'change me'");
    const stranger = withUrl((url) => {
      url.pathname = `/${database}`;
      url.username = 'reprise_stranger';
      url.password = 'change me';
    });
    try {
      const listed = await place.run(['list', '--json', '--store', stranger]);
      expect([listed.code, errorOf(listed).code]).toEqual([3, 'store.denied']);
      const { findings } = await place.json('doctor', '--store', stranger);
      const [found] = findings as { readonly message: string; readonly todo: string }[];
      expect(found?.message).toContain('the user reprise_stranger may not read the schema "reprise"');
      expect(found?.todo).toBe(errorOf(listed).hint);
      await tamper(administrator, found?.todo.replace(/^.*?: (.*;) then .*$/, '$1') ?? '');
      expect((await place.run(['list', '--store', stranger])).code).toBe(0);
      expect((await place.json('doctor', '--store', stranger))['ok']).toBe(true);
    } finally {
      await tamper(administrator, 'DROP OWNED BY reprise_stranger; DROP ROLE reprise_stranger');
    }
  });
});

describe('the owner', () => {
  it('is told who makes a schema where it may not, and then makes the store', async () => {
    const elsewhere = `${urlOf('owner')}?schema=second`;
    const refused = await place.run(['set', 'demo', 'plan', '1', '--json', '--store', elsewhere]);
    expect([refused.code, errorOf(refused).code]).toEqual([3, 'store.denied']);
    const statement = /try again: (CREATE SCHEMA .*;)$/.exec(errorOf(refused).hint)?.[1] ?? '';
    await tamper(administrator, statement);
    const stranger = await place.run([
      'set',
      'demo',
      'plan',
      '1',
      '--json',
      '--store',
      `${urlOf('writer')}?schema=second`,
    ]);
    expect([stranger.code, errorOf(stranger).hint]).toEqual([3, expect.stringContaining('doctor --create')]);
    expect((await place.run(['set', 'demo', 'plan', '1', '--store', elsewhere])).code).toBe(0);
  });

  it('alone migrates; the others are told so, and may read what a migration brought', async () => {
    const platform = createNodePlatform();
    const open = (role: Role) => openMigratedStore({ url: urlOf(role), platform }, nextRelease);
    await expect(open('writer')).rejects.toMatchObject({
      code: 'store.denied',
      message: expect.stringContaining('migrate the store from schema 1 to 2'),
      hint: expect.stringContaining('owner'),
    });
    await (await open('owner')).close();
    const store = await open('writer');
    expect((await store.health()).schema).toBe('2');
    await store.close();
    const { stdout } = await run('reader', 'doctor');
    expect(textOf(JSON.parse(stdout) as Found, 'schema')).toBe('version 2, this release makes 1, and may go on');
  });
});
