import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform, openMemoryStore, openPostgresStore, openReprise, type Reprise } from '../../src/index.ts';
import { readAll, segment } from '../../src/testing/contract/contract-case.ts';
import { newPlace } from './place.ts';
import { namespace, now, randomOf, type Told, writeRandomly } from './random-writer.ts';
import { startProxy, type WireProxy } from './wire-proxy.ts';

const platform = createNodePlatform();
const seed = process.env['RANDOM_SEED'] ?? String(Date.now());
const ms = Number(process.env['RANDOM_MS'] ?? 800);
let place: string;
let proxy: WireProxy;
let stores: EventStore[];

beforeAll(async () => {
  place = newPlace();
  proxy = await startProxy(Number(new URL(inject('postgresUrl')).port));
  const open = (url: string): Promise<EventStore> => openPostgresStore({ url, platform, durability: 'process' });
  stores = [await open(place), await open(proxy.through(place))];
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await proxy.close();
});

/** Two stores of this process, one of which loses its connection now and then, and two processes of their own. */
async function writeTogether(sessions: readonly string[], isForking: boolean): Promise<Told[]> {
  const deadline = performance.now() + ms;
  const until = (): boolean => performance.now() > deadline;
  const random = randomOf(`${seed} cuts`);
  // A writer tries again under the same name after a cut, so this is only for sessions that keep theirs.
  proxy.cutAt = ({ from, type }) => isForking && from === 'server' && type === 'C' && random(150) === 0;
  const here = stores.map((store, index) =>
    writeRandomly(store, { platform, name: `${seed}-${sessions[0]}-s${index}`, sessions, isForking, until }),
  );
  const there = ['c0', 'c1'].map((name) =>
    child(`${seed}-${sessions[0]}-${name}`, [sessions.join(' '), ...(isForking ? ['fork'] : [])]),
  );
  const told = (await Promise.all([...here, ...there])).flat();
  proxy.cutAt = () => false;
  return told;
}

async function child(name: string, more: readonly string[]): Promise<Told[]> {
  const program = fileURLToPath(new URL('./random-child.ts', import.meta.url));
  const words = ['--disable-warning=ExperimentalWarning', program, place, name, String(ms), ...more];
  const running = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(await text(running.stdout)) as Told[];
}

/** Refusals that say that something is the case, and not that the store could not do it. */
const refusals = new Set([
  'append.conflict',
  'append.partly-known',
  'branch.exists',
  'branch.not-found',
  'branch.rewound',
  'event.id-reused',
  'event.not-found',
  'point.out-of-range',
  'session.not-found',
  'state.conflict',
]);

/** Errors of a reader whose session was deleted, or erased in part, in between. */
const overtaken = new Set(['event.erased', 'part.missing', 'session.exists']);

/** Where each event that is stored stands. */
async function storedIn(
  store: EventStore,
  session: string,
): Promise<Map<string, { branch: string; seq: number; digest: string }>> {
  const ref = { namespace, session };
  const found = new Map<string, { branch: string; seq: number; digest: string }>();
  for (const { branch, head, parent } of await store.branches(ref))
    for (const event of await readAll({ store, ref }, [segment(branch, parent?.seq ?? 0, head)])) {
      expect(found.has(event.id), `${event.id} is stored once`).toBe(false);
      found.set(event.id, { branch, seq: event.seq, digest: event.digest });
    }
  return found;
}

/** One append after the other, as they were acknowledged, on a store where nobody else writes. */
async function replayed(told: readonly Told[], sessions: readonly string[]): Promise<EventStore> {
  const memory = openMemoryStore({ platform });
  for (const session of sessions) await memory.createSession({ namespace, session }, { root: 'main', seed: session });
  let left = told.filter(({ code }) => code === 'ok');
  while (left.length > 0) {
    const rest: Told[] = [];
    for (const one of left) {
      const { session, target } = one.asked;
      const at = target.kind === 'fork' ? target.parent.branch : target.branch;
      const head = (await memory.branch({ namespace, session, branch: at }))?.head ?? -1;
      const first = (one.events[0]?.seq ?? 0) - 1;
      if (target.kind === 'fork' ? head < target.parent.seq : head !== first) rest.push(one);
      else if (!(await isCaused(memory, one))) rest.push(one);
      else
        expect(await memory.append([one.asked]), JSON.stringify(one)).toMatchObject([
          { ok: true, known: false, events: one.events.map(({ id, seq }) => ({ id, seq })) },
        ]);
    }
    expect(rest.length, `some of these could come next: ${JSON.stringify(rest.slice(0, 3))}`).toBeLessThan(left.length);
    left = rest;
  }
  return memory;
}

async function isCaused(store: EventStore, { asked }: Told): Promise<boolean> {
  const own = new Set(asked.events.map(({ id }) => id));
  const causes = asked.events.flatMap(({ cause }) => (cause === undefined || own.has(cause) ? [] : [cause]));
  return (await store.locate(asked, causes)).size === new Set(causes).size;
}

describe(`random writers (RANDOM_SEED=${seed})`, () => {
  it('are told what one after the other would have been told, and nothing is lost, doubled or stored unasked', async () => {
    const sessions = ['r0', 'r1', 'r2'];
    const [store] = stores as [EventStore, EventStore];
    for (const session of sessions) await store.createSession({ namespace, session }, { root: 'main', seed: session });
    const told = await writeTogether(sessions, true);
    expect(
      [...new Set(told.map(({ code }) => code))].filter(
        (code) => code !== 'ok' && code !== 'known' && !refusals.has(code),
      ),
    ).toEqual([]);
    const written = told.filter(({ code }) => code === 'ok');
    for (const session of sessions) {
      const stored = await storedIn(store, session);
      const own = written.filter(({ asked }) => asked.session === session);
      expect(stored.size).toBe(own.flatMap(({ events }) => events).length);
      for (const { asked, events } of told.filter(
        ({ asked, code }) => asked.session === session && (code === 'ok' || code === 'known'),
      ))
        for (const { id, seq, digest } of events)
          expect(stored.get(id), id).toEqual({ branch: asked.target.branch, seq, digest });
    }
    const memory = await replayed(told, sessions);
    const [reprise, model] = [
      await openReprise({ store, platform, namespace }),
      await openReprise({ store: memory, platform, namespace }),
    ];
    for (const session of sessions) {
      const ref = { namespace, session };
      const [real, ideal] = [await reprise.session(session), await model.session(session)];
      for (const { branch } of await store.branches(ref)) {
        const [left, right] = [await store.branch({ ...ref, branch }), await memory.branch({ ...ref, branch })];
        expect({ ...left, digest: '', createdAt: '' }).toEqual({ ...right, digest: '', createdAt: '' });
        expect(await real.branch(branch).verify()).toMatchObject({ ok: true, reason: null });
        expect(await real.branch(branch).fingerprint()).toBe(await ideal.branch(branch).fingerprint());
      }
    }
    const counted = (code: string): number => told.filter((one) => one.code === code).length;
    // It was worth it only if everything happened.
    expect(
      Math.min(counted('ok'), counted('known'), counted('append.conflict'), counted('branch.exists')),
    ).toBeGreaterThan(0);
  });

  it('write to the session that has the name, while sessions are deleted, made anew and renamed', async () => {
    const names = ['n0', 'n1', 'n2'];
    const [store] = stores as [EventStore, EventStore];
    const churner = await openPostgresStore({ url: place, platform, durability: 'process' });
    const spells: Spell[] = [];
    let isDone = false;
    const churning = churn(churner, names, spells, () => isDone);
    const told = await writeTogether(names, false);
    isDone = true;
    await churning;
    await churner.close();
    const bySeed = new Map((await allSessions(store)).map((record) => [record.seed, record.session]));
    // The same append may have gone to one session, and after that was deleted to the next of its name.
    const acknowledged = Map.groupBy(
      told.filter(({ code }) => code === 'ok').flatMap((one) => one.events.map((event) => ({ one, event }))),
      ({ event }) => event.id,
    );
    const stored = new Set<string>();
    for (const [held, session] of bySeed) {
      if (!held.startsWith('churned ')) continue;
      for (const [id, { seq, digest }] of await storedIn(store, session)) {
        stored.add(digest);
        const ack = acknowledged.get(id)?.find(({ event }) => event.seq === seq && event.digest === digest);
        if (ack === undefined) throw new Error(`${id} is stored, and nobody was told so`);
        const { asked, began, ended } = ack.one;
        const had = spells.filter((spell) => spell.seed === held && spell.name === asked.session);
        expect(
          had.some(({ from, to }) => from <= ended && began <= to),
          `${id} is where its name was`,
        ).toBe(true);
      }
      for (const { branch } of await store.branches({ namespace, session }))
        expect(
          await (await (await openReprise({ store, platform, namespace })).session(session)).branch(branch).verify(),
        ).toMatchObject({ ok: true, reason: null });
    }
    const gone = spells.filter(({ isDeleted }) => isDeleted);
    for (const [id, acks] of acknowledged)
      for (const { one, event } of acks)
        if (!stored.has(event.digest))
          expect(
            gone.some(({ name, from, to }) => name === one.asked.session && from <= one.ended && one.began <= to),
            `${id} is gone with a session that was deleted`,
          ).toBe(true);
  });

  it('keep what they share with sessions that erase and forget it', async () => {
    const open = (url: string): Promise<EventStore> => openPostgresStore({ url, platform, durability: 'process' });
    const reprises = await Promise.all(
      [place, place, place].map(async (url) => openReprise({ store: await open(url), platform, namespace })),
    );
    const deadline = performance.now() + ms;
    const told: string[] = [];
    await Promise.all(
      reprises.map(async (reprise, index) => {
        const random = randomOf(`${seed} shares ${index}`);
        while (performance.now() < deadline) {
          const id = `shared ${random(3)}`;
          try {
            if (random(12) === 0 && id !== 'shared 0') await stores[0]?.deleteSession({ namespace, session: id });
            const session = await reprise.session(id, { create: true });
            const content = `${random(4)} `.repeat(600);
            const [event] = await session.append({
              type: 'message.added',
              data: { message: { role: 'user', content } },
            });
            if (random(4) === 0)
              await session.erase(`main@${event?.seq}`, { reason: 'as it happens', everywhere: random(6) === 0 });
          } catch (error) {
            told.push((error as { readonly code?: string }).code ?? String(error));
          }
        }
      }),
    );
    const [reprise] = reprises as [Reprise, Reprise, Reprise];
    for (const id of ['shared 0', 'shared 1', 'shared 2']) {
      const session = await reprise.session(id, { create: true });
      expect(await session.verify()).toMatchObject({ ok: true, reason: null });
      for await (const event of session.replay()) {
        const message = event.data['message'] as { readonly content?: unknown; readonly erased?: true } | undefined;
        // An event that was appended while the same text was being erased has a hole that nobody planned.
        if (event.erased === true || message === undefined || message.erased === true) continue;
        expect(String(message.content)).toMatch(/^(\d )\1{599}$/);
      }
    }
    expect([...new Set(told)].filter((code) => !refusals.has(code) && !overtaken.has(code))).toEqual([]);
    for (const held of reprises) await held.close();
  });
});

/** How long a session had a name, from before it got it to after it lost it; and whether it is deleted in the end. */
interface Spell {
  readonly seed: string;
  readonly name: string;
  readonly from: number;
  to: number;
  isDeleted: boolean;
}

async function churn(
  store: EventStore,
  names: readonly string[],
  spells: Spell[],
  isDone: () => boolean,
): Promise<void> {
  const random = randomOf(`${seed} churn`);
  const held = new Map<string, Spell>();
  for (let made = 0; !isDone(); ) {
    await sleep(random(30));
    const name = names[random(names.length)] as string;
    const ref = { namespace, session: name };
    const spell = held.get(name);
    const from = now();
    if (spell === undefined) {
      const one: Spell = { seed: `churned ${made++}`, name, from, to: Number.POSITIVE_INFINITY, isDeleted: false };
      await store.createSession(ref, { root: 'main', seed: one.seed });
      spells.push(one);
      held.set(name, one);
    } else if (random(2) === 0) {
      await store.deleteSession(ref);
      spell.to = now();
      for (const one of spells) if (one.seed === spell.seed) one.isDeleted = true;
      held.delete(name);
    } else {
      const to = random(2) === 0 ? names.find((other) => !held.has(other)) : `old ${made++}`;
      if (to === undefined) continue;
      await store.renameSession(ref, { to });
      spell.to = now();
      held.delete(name);
      const one = { seed: spell.seed, name: to, from, to: Number.POSITIVE_INFINITY, isDeleted: false };
      spells.push(one);
      if (names.includes(to)) held.set(to, one);
    }
  }
}

async function allSessions(store: EventStore): Promise<{ readonly seed: string; readonly session: string }[]> {
  const found = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.sessions({ namespace, limit: 100, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.sessions);
    cursor = page.next;
    if (cursor === undefined) return found;
  }
}
