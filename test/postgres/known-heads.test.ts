import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Seq } from '../../src/core/point.ts';
import type { AppendOutcome, EventStore, SessionRef } from '../../src/core/store/event-store.ts';
import { createNodePlatform, openPostgresStore, openReprise, type Reprise } from '../../src/index.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { newPlace, tamper } from './place.ts';
import { startProxy, type WireProxy } from './wire-proxy.ts';

const platform = createNodePlatform();
let place: string;
let proxy: WireProxy;
/** Two processes, as far as the server can tell; the first one behind a proxy that counts. */
let store: EventStore;
let other: EventStore;
let reprise: Reprise;
let otherReprise: Reprise;

beforeAll(async () => {
  place = newPlace();
  proxy = await startProxy(Number(new URL(inject('postgresUrl')).port));
  other = await openPostgresStore({ url: place, platform, durability: 'process' });
  store = await openPostgresStore({ url: proxy.through(place), platform, durability: 'process' });
  otherReprise = await openReprise({ store: other, platform });
  reprise = await openReprise({ store, platform });
});
afterAll(async () => {
  await reprise.close();
  await otherReprise.close();
  await proxy.close();
});

/** A session that the first process has just written one event to. */
async function warm(session: string): Promise<SessionRef> {
  const ref = { namespace: 'default', session };
  await store.createSession(ref, { root: 'main', seed: session });
  await append(store, ref, 'first');
  return ref;
}

async function append(on: EventStore, ref: SessionRef, text: string, head?: number): Promise<AppendOutcome> {
  const condition = head === undefined ? ({ kind: 'any' } as const) : ({ kind: 'head', seq: head as Seq } as const);
  const [outcome] = await on.append([request(ref, [note(text)], { condition })]);
  return outcome as AppendOutcome;
}

/** How many transactions are begun meanwhile. */
async function begun(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  proxy.cutAt = ({ from, text }) => {
    if (from === 'client' && text === 'BEGIN') count++;
    return false;
  };
  await work();
  proxy.cutAt = () => false;
  return count;
}

describe('an append to a branch that this process has just written to', () => {
  it('is one statement, under a condition too, and the first one is not', async () => {
    const ref = { namespace: 'default', session: 'statements' };
    await store.createSession(ref, { root: 'main', seed: 'x' });
    expect(await begun(() => append(store, ref, 'first'))).toBe(1);
    expect(await begun(() => append(store, ref, 'second'))).toBe(0);
    expect(await begun(() => append(store, ref, 'third', 2))).toBe(0);
  });

  it('is judged by the head that is stored, wherever another process has moved it', async () => {
    const ref = await warm('moved');
    await append(other, ref, 'from elsewhere');
    expect(await append(store, ref, 'too late', 1)).toMatchObject({
      ok: false,
      error: { code: 'append.conflict', details: { expected: 1, actual: 2 } },
    });
    await append(other, ref, 'once more');
    expect(await append(store, ref, 'after all')).toMatchObject({ ok: true, known: false, events: [{ seq: 4 }] });
    expect((await (await reprise.session('moved')).verify()).ok).toBe(true);
  });

  it('is refused by a rewind that another process has made', async () => {
    await warm('rewound');
    const session = await reprise.session('rewound');
    await session.append({ type: 'note.added', data: { text: 'second' } }, { epoch: 0 });
    await (await otherReprise.session('rewound')).rewind(1);
    await expect(session.append({ type: 'note.added', data: { text: 'third' } }, { epoch: 0 })).rejects.toMatchObject({
      code: 'branch.rewound',
    });
  });

  it('goes to the session of that name that is there, or says that there is none', async () => {
    const ref = await warm('deleted');
    await other.deleteSession(ref);
    expect(await append(store, ref, 'nowhere')).toMatchObject({ ok: false, error: { code: 'session.not-found' } });
    await other.createSession(ref, { root: 'main', seed: 'again' });
    expect(await append(store, ref, 'anew')).toMatchObject({ ok: true, events: [{ seq: 1 }] });
  });

  it('is refused where the session is hidden by a deletion that is still under way', async () => {
    const ref = await warm('hidden');
    await tamper(place, `UPDATE sessions SET name = NULL WHERE name = 'hidden'`);
    expect(await append(store, ref, 'nowhere')).toMatchObject({ ok: false, error: { code: 'session.not-found' } });
  });

  it('is known by its ids when it comes twice, and refused with other content', async () => {
    const ref = await warm('twice');
    const asked = request(ref, [note('once')]);
    const [first] = await store.append([asked]);
    const [second] = await store.append([asked]);
    const [third] = await store.append([
      { ...asked, events: [{ ...note('other'), id: asked.events[0]?.id as string }] },
    ]);
    expect([first, second, third]).toMatchObject([
      { ok: true, known: false },
      { ok: true, known: true },
      { ok: false, error: { code: 'event.id-reused' } },
    ]);
    const [left, right] = await store.append([request(ref, [note('same id')]), request(ref, [note('next')])]);
    expect([left, right]).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it('is still known by its ids when the answer to its repetition is lost', async () => {
    const ref = await warm('twice and cut');
    const asked = request(ref, [note('once')]);
    await other.append([asked]);
    let cuts = 0;
    proxy.cutAt = ({ from, type, text }) => from === 'server' && type === 'C' && text === 'COMMIT' && cuts++ === 0;
    const [outcome] = await store.append([asked]);
    proxy.cutAt = () => false;
    expect(cuts).toBeGreaterThan(0);
    expect(outcome).toMatchObject({ ok: true, known: true });
  });

  it('finds its cause among what was written before it, and refuses one that is not there', async () => {
    const ref = await warm('causes');
    const cause = note('cause');
    await store.append([request(ref, [cause])]);
    const effect = { ...note('effect'), cause: cause.id };
    let outcome: AppendOutcome | undefined;
    expect(
      await begun(async () => {
        [outcome] = await store.append([request(ref, [effect])]);
      }),
    ).toBe(0);
    expect(outcome).toMatchObject({ ok: true, events: [{ causeSeq: 2 }] });
    const [lost] = await store.append([request(ref, [{ ...note('x'), cause: 'nobody' }])]);
    expect(lost).toMatchObject({ ok: false, error: { code: 'event.not-found' } });
  });
});

describe('many appends at once', () => {
  it('are all stored once and in order, from two processes and in several sessions', async () => {
    const names = ['many-0', 'many-1', 'many-2'];
    for (const name of names) await warm(name);
    const writers = Array.from({ length: 48 }, async (_, writer) => {
      const session = await (writer % 4 === 3 ? otherReprise : reprise).session(names[writer % 3] as string);
      for (let index = 0; index < 10; index++)
        await session.append({ type: 'note.added', data: { text: `${writer}/${index}` } });
    });
    await Promise.all(writers);
    for (const [at, name] of names.entries()) {
      const session = await otherReprise.session(name);
      expect(await session.verify()).toMatchObject({ ok: true, events: 161 });
      const seen = new Map<string, number>();
      for await (const { data } of session.replay()) {
        const [writer = '', index = ''] = String(data['text']).split('/');
        if (index === '') continue;
        expect(Number(index)).toBe(seen.get(writer) ?? 0);
        seen.set(writer, Number(index) + 1);
      }
      expect([...seen.keys()].every((writer) => Number(writer) % 3 === at)).toBe(true);
    }
  });

  it('under a cut connection are stored once, those that were sent ahead included', async () => {
    const ref = await warm('cut');
    const outcomes: AppendOutcome[] = [];
    let left = 0;
    proxy.cutAt = ({ from, type }) => from === 'server' && type === 'C' && ++left % 7 === 0;
    const writers = Array.from({ length: 32 }, async (_, writer) => {
      for (let index = 0; index < 5; index++) outcomes.push(await append(store, ref, `${writer}/${index}`));
    });
    await Promise.all(writers);
    proxy.cutAt = () => false;
    expect(outcomes.filter((outcome) => !outcome.ok || outcome.known)).toEqual([]);
    expect(await (await otherReprise.session('cut')).verify()).toMatchObject({ ok: true, events: 161 });
  });
});

describe('the order of sessions', () => {
  it('is that of the last appends, page by page, however far apart they are', async () => {
    const namespace = 'order';
    const refs = Array.from({ length: 7 }, (_, index) => ({ namespace, session: `s${index}` }));
    for (const ref of refs) {
      await tamper(place, `SELECT setval('touches', nextval('touches') + 300)`);
      await store.createSession(ref, { root: 'main', seed: ref.session });
      await append(store, ref, 'first');
    }
    const order = [3, 0, 5, 3, 1, 6, 0, 2, 4];
    for (const [at, index] of order.entries()) {
      // Appends of others, in other namespaces.
      if (at % 3 === 2) await tamper(place, `SELECT setval('touches', nextval('touches') + 200)`);
      await append(store, refs[index] as SessionRef, `${at}`);
    }
    const listed: string[] = [];
    for (let page = await other.sessions({ namespace, limit: 2 }); ; ) {
      listed.push(...page.sessions.map(({ session }) => session));
      if (page.next === undefined) break;
      page = await other.sessions({ namespace, limit: 2, cursor: page.next });
    }
    expect(listed).toEqual(['s4', 's2', 's0', 's6', 's1', 's3', 's5']);
  });
});
