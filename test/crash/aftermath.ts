import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Seq } from '../../src/core/point.ts';
import { createNodePlatform, type Event, type Session, summary } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import { migrations } from '../../src/store/sqlite/schema.ts';
import { openMigratedStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { EventStore } from '../../src/store.ts';
import { all } from '../verbs/verb-case.ts';
import { growingMigrations } from './growing-migrations.ts';
import { type Line, tally } from './writer-report.ts';

const platform = createNodePlatform();
const ref = { namespace: 'default', session: 'demo' };

/** Opens what a killed writer left and holds it against what it had said. Gives how many events there are. */
export async function checkAftermath(path: string, said: readonly Line[], migrating: boolean): Promise<number> {
  const store = await openMigratedStore({ path, platform }, migrating ? growingMigrations : migrations);
  await using reprise = await openWith({ store, platform }, { snapshotEvents: 8 });
  expect((await store.health()).problems).toEqual([]);
  if ((await store.session(ref)) === undefined) {
    expect(said).toEqual([]);
    return 0;
  }
  const session = await reprise.session('demo');
  const histories = new Map<string, readonly Event[]>();
  for (const { branch } of await store.branches(ref)) histories.set(branch, await checkBranch(session, branch));
  await checkKeys(store, histories);
  checkSaid(histories, said);
  checkForgotten(path, said);
  return [...histories].reduce((sum, [branch, events]) => sum + ownEvents(events, branch).length, 0);
}

const ownEvents = (events: readonly Event[], branch: string): readonly Event[] =>
  events.filter((event) => event.branch === branch);

/** Verifies a branch, its batches and its snapshots; gives its raw history. */
async function checkBranch(session: Session, branch: string): Promise<readonly Event[]> {
  const at = { branch };
  expect(await session.at(at).verify(), `verify ${branch}`).toMatchObject({ ok: true });
  const raw = await all(session.at(at).replay({ history: 'raw' }));
  expect(raw.map((event) => event.seq)).toEqual(raw.map((_, index) => index + 1));
  checkBatches(ownEvents(raw, branch));
  expect(await session.at(at).fold(tally)).toEqual(await session.at(at).fold(tally, { snapshots: false }));
  expect(await session.at(at).fold(summary)).toEqual(await session.at(at).fold(summary, { snapshots: false }));
  return raw;
}

/** The key index is what the log says: building it anew changes nothing. */
async function checkKeys(store: EventStore, histories: ReadonlyMap<string, readonly Event[]>): Promise<void> {
  const look = async (): Promise<unknown[]> => {
    const found = [];
    for (const [branch, events] of histories) found.push([branch, await keysOf(store, branch, events.length)]);
    return found;
  };
  const before = await look();
  await store.reindex(ref);
  expect(await look()).toEqual(before);
}

function checkBatches(events: readonly Event[]): void {
  const batches = new Map<string, { size: number; indexes: number[] }>();
  for (const { data } of events) {
    if (typeof data['batch'] !== 'string') continue;
    const held = batches.get(data['batch']) ?? { size: Number(data['size']), indexes: [] };
    held.indexes.push(Number(data['index']));
    batches.set(data['batch'], held);
  }
  for (const [name, { size, indexes }] of batches)
    expect(indexes, `batch ${name}`).toEqual(Array.from({ length: size }, (_, index) => index));
}

async function keysOf(
  store: EventStore,
  branch: string,
  head: number,
): Promise<readonly (readonly [string, number])[]> {
  const { markers, root } = (await store.branch({ ...ref, branch })) ?? { markers: [], root: 'main' };
  const forks = markers.filter((marker) => marker.kind === 'forked');
  const segments = [root, ...forks.map((marker) => marker.branch)].map((name, index) => ({
    branch: name,
    after: (index === 0 ? 0 : (forks[index - 1]?.seq ?? 1) - 1) as Seq,
    through: (forks[index] === undefined ? head : (forks[index]?.seq ?? 1) - 1) as Seq,
    except: [],
    carried: false,
  }));
  const found: (readonly [string, number])[] = [];
  let after: string | undefined;
  do {
    const page = await store.latest(
      ref,
      segments,
      { prefix: '' },
      { limit: 1_000, select: 'header', ...(after === undefined ? {} : { after }) },
    );
    found.push(...page.entries.map(({ key, event }) => [key, event.seq] as const));
    after = page.next;
  } while (after !== undefined);
  return found;
}

function checkSaid(histories: ReadonlyMap<string, readonly Event[]>, said: readonly Line[]): void {
  const at = (branch: string, seq: number): Event | undefined => histories.get(branch)?.[seq - 1];
  for (const line of said) {
    if (line.kind === 'appended')
      for (const { seq, id, digest } of line.events)
        expect(at(line.branch, seq), `acknowledged ${line.branch}@${seq}`).toMatchObject({ id, digest });
    if (line.kind === 'forked') expect(at(line.branch, line.head), `acknowledged fork ${line.branch}`).toBeDefined();
    if (line.kind === 'forking' && histories.has(line.branch)) {
      const own = ownEvents(histories.get(line.branch) ?? [], line.branch);
      expect(own.length, `events of the fork ${line.branch}`).toBeGreaterThanOrEqual(line.events);
    }
    if (line.kind === 'erased') expect(at('main', line.seq)?.erased, `erased main@${line.seq}`).toBe(true);
  }
}

/** Checks that no file holds a text whose erasure was acknowledged. */
function checkForgotten(path: string, said: readonly Line[]): void {
  const texts = said.flatMap((line) => (line.kind === 'erased' ? [line.text] : []));
  for (const file of [path, `${path}-wal`]) {
    const bytes = readFileSync(file);
    for (const text of texts) expect(bytes.includes(text), `${text} in ${file}`).toBe(false);
  }
}
