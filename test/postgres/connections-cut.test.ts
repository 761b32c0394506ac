import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Digest, Seq } from '../../src/core/point.ts';
import type { EventStore, Snapshot } from '../../src/core/store/event-store.ts';
import { createNodePlatform, openPostgresStore, openReprise, type Reprise, type Session } from '../../src/index.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { newPlace } from './place.ts';
import { startProxy, type WireMessage, type WireProxy } from './wire-proxy.ts';

const platform = createNodePlatform();
let proxy: WireProxy;
let place: string;
/** Through the proxy, and past it. */
let cutStore: EventStore;
let cut: Reprise;
let store: EventStore;
let reprise: Reprise;

beforeAll(async () => {
  proxy = await startProxy(Number(new URL(inject('postgresUrl')).port));
  place = newPlace();
  store = await openPostgresStore({ url: place, platform, durability: 'process' });
  reprise = await openReprise({ store, platform });
  cutStore = await openPostgresStore({ url: proxy.through(place), platform, durability: 'process' });
  cut = await openReprise({ store: cutStore, platform });
});
afterAll(async () => {
  await cut.close();
  await reprise.close();
  await proxy.close();
});

/** Cuts the connection at the first message that is meant; tells afterwards whether there was one. */
function cutOnce(isMeant: (message: WireMessage) => boolean): { readonly happened: () => boolean } {
  let isDone = false;
  proxy.cutAt = (message) => {
    if (isDone || !isMeant(message)) return false;
    isDone = true;
    return true;
  };
  return { happened: () => isDone };
}

const long = 'A part is stored by its digest. '.repeat(40);

/**
 * Cuts at the n-th place of a change where the server knows more, or the client does, than before. An append to a branch
 * that is known is a transaction by itself, which nothing begins or ends.
 */
function cutAtPlace(place: number, isBare: boolean): { readonly happened: () => boolean } {
  let count = -1;
  return cutOnce(({ from, type, isInTransaction }) => {
    const isPlace = (isInTransaction || isBare) && (from === 'client' ? 'QPES' : '1CZ').includes(type);
    return isPlace && ++count === place;
  });
}

/** Something that changes a store, done through a network that fails, and what is there afterwards if it was done once. */
interface Change {
  readonly name: string;
  /** Whether each is made on a new connection. */
  readonly isCold?: boolean;
  /** Whether it is written in a statement that is a transaction by itself. */
  readonly isBare?: boolean;
  readonly run: (session: Session, index: number) => Promise<unknown>;
  /** Checks, past the proxy, that `times` changes were made. */
  readonly check: (session: Session, times: number) => Promise<void>;
}

async function textsOf(session: Session, type: string): Promise<unknown[]> {
  const texts: unknown[] = [];
  for await (const event of session.replay({ history: 'raw' }))
    if (event.type === type) texts.push((event.data as { readonly text?: unknown }).text);
  return texts;
}

const noted = (times: number): string[] => Array.from({ length: times }, (_, index) => `${index} ${long}`);

const snapshotOf = (seq: number): Snapshot => ({
  branch: 'main',
  projection: 'p',
  version: '1',
  upcasts: 0,
  erasures: 0,
  seq: seq as Seq,
  digest: '0'.repeat(64) as Digest,
  value: JSON.stringify({ seq }),
});

const changes: readonly Change[] = [
  {
    name: 'an append',
    isCold: true,
    run: (session, index) => session.append({ type: 'note.added', data: { text: `${index} ${long}` } }),
    check: async (session, times) => expect(await textsOf(session, 'note.added')).toEqual(noted(times)),
  },
  {
    name: 'an append under a condition',
    isBare: true,
    run: (session, index) =>
      session.append({ type: 'note.added', data: { text: `${index} ${long}` } }, { head: index }),
    check: async (session, times) => expect(await textsOf(session, 'note.added')).toEqual(noted(times)),
  },
  {
    name: 'a fork with an edit',
    run: (session, index) =>
      session.fork('main@0', {
        name: `b${index}`,
        edits: [{ kind: 'append', event: { type: 'note.added', data: { text: 'edited' } } }],
      }),
    check: async (session, times) => {
      const { children } = await session.tree();
      expect(children.map(({ branch }) => branch).sort()).toEqual(
        Array.from({ length: times }, (_, index) => `b${index}`).sort(),
      );
      for (let index = 0; index < times; index++) {
        const branch = session.branch(`b${index}`);
        expect((await branch.locate()).head).toBe(2);
      }
    },
  },
  {
    name: 'a session that is made',
    isCold: true,
    run: (session, index) => cut.createSession(`${session.id}-${index}`),
    check: async (session, times) => {
      for (let index = 0; index < times; index++) {
        const made = await reprise.session(`${session.id}-${index}`);
        expect((await made.verify()).ok).toBe(true);
      }
    },
  },
  {
    name: 'a commit of state',
    isBare: true,
    run: (session) =>
      session.state.transaction(async (tx) => {
        const { value } = await tx.get('count');
        tx.write('count', Number(value ?? 0) + 1);
      }),
    check: async (session, times) =>
      expect(await session.state.get('count')).toMatchObject({ value: times, version: times }),
  },
  {
    name: 'an erasure',
    run: async (session, index) => {
      await past(session, (held) => held.append({ type: 'note.added', data: { text: `secret ${index}` } }));
      return await session.erase(`main@${index * 2 + 1}`);
    },
    check: async (session, times) => {
      expect(await textsOf(session, 'note.added')).toEqual(Array.from({ length: times }, () => undefined));
      expect(await textsOf(session, 'payload.erased')).toHaveLength(times);
    },
  },
  {
    name: 'a snapshot',
    run: (session, index) => cutStore.putSnapshot({ namespace: 'default', session: session.id }, snapshotOf(index)),
    check: async (session, times) => {
      const ref = { namespace: 'default', session: session.id, branch: 'main' };
      // The store leaves out a snapshot that it could not keep in time, and says nothing: only time is lost.
      const kept = await store.heldSnapshots(ref, { limit: times });
      expect(kept.length).toBeGreaterThan(0);
      for (const { seq } of kept)
        expect(await store.snapshot(ref, snapshotOf(0), seq)).toMatchObject({ value: JSON.stringify({ seq }) });
    },
  },
  {
    name: 'a session that is deleted',
    run: async (session, index) => {
      const id = `${session.id}-${index}`;
      await past(session, () => reprise.createSession(id));
      await (await cut.session(id)).delete({ confirm: id });
    },
    check: async (session, times) => {
      for (let index = 0; index < times; index++)
        await expect(reprise.session(`${session.id}-${index}`)).rejects.toMatchObject({ code: 'session.not-found' });
    },
  },
];

/** Does something past the proxy, to have what the change needs. */
async function past(session: Session, work: (held: Session) => Promise<unknown>): Promise<void> {
  await work(await reprise.session(session.id));
}

describe('a connection that is cut between the commit and its answer', () => {
  it.each(changes)('leaves $name done once, and nobody notices', async ({ name, run, check }) => {
    const id = `answer ${name}`;
    await reprise.createSession(id);
    const session = await cut.session(id);
    const times = 3;
    for (let index = 0; index < times; index++) {
      const commit = cutOnce(({ from, type, text }) => from === 'server' && type === 'C' && text === 'COMMIT');
      await run(session, index);
      expect(commit.happened()).toBe(true);
    }
    const direct = await reprise.session(id);
    await check(direct, times);
    expect((await direct.verify()).ok).toBe(true);
  });

  it('is not answered as known to the writer, but is to whoever appends the same ids again', async () => {
    const ref = { namespace: 'default', session: 'answered' };
    await store.createSession(ref, { root: 'main', seed: 'x' });
    const asked = request(ref, [note('once')], { condition: { kind: 'head', seq: 0 as Seq } });
    cutOnce(({ from, type, text }) => from === 'server' && type === 'C' && text === 'COMMIT');
    const [first] = await cutStore.append([asked]);
    const [second] = await cutStore.append([asked]);
    expect([first, second]).toMatchObject([
      { ok: true, known: false },
      { ok: true, known: true },
    ]);
    expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBe(1);
  });
});

describe('a connection that is cut at any message', () => {
  it.each(changes)('leaves $name done once', async ({ name, run, check, isCold, isBare = false }) => {
    const id = `any ${name}`;
    await reprise.createSession(id);
    const session = await cut.session(id);
    let index = 0;
    for (let isCut = true; isCut; index++) {
      // On a new connection every statement is prepared first, so that those messages are there to be cut too.
      proxy.cutAt = () => false;
      if (isCold) proxy.cutAll();
      const cutting = cutAtPlace(index, isBare);
      await run(session, index);
      isCut = cutting.happened();
    }
    proxy.cutAt = () => false;
    expect(index).toBeGreaterThan(isBare ? 4 : 10);
    const direct = await reprise.session(id);
    await check(direct, index);
    expect((await direct.verify()).ok).toBe(true);
  });
});
