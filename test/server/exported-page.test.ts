import { inflateSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { limits } from '../../src/core/limits.ts';
import type { Digest } from '../../src/core/point.ts';
import { parseRef } from '../../src/core/ref.ts';
import type { ChainedEvent } from '../../src/core/store/restore-request.ts';
import { type PageRows, unpackRows } from '../../src/engine/bundling/page-rows.ts';
import { openMemoryStore, openReprise, type Reprise, type Session } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { type ExportPreview, readyPage } from '../../src/server/studio/exported-page.ts';
import type { EventStore } from '../../src/store.ts';
import { storyEvents } from '../contract/studio-story.ts';

const platform = createNodePlatform();
const parts = { script: 'const end = "</script><!-- x";', style: 'a::after{content:"</style>"}' };

interface Exported {
  readonly html: string;
  readonly rows: PageRows;
  readonly preview: ExportPreview;
}

/** A session with a fork whose edit replaced a tool's result. */
async function world(): Promise<{ readonly store: ReturnType<typeof openMemoryStore>; readonly session: Session }> {
  const store = openMemoryStore({ platform });
  const reprise = await openReprise({ store, config: false });
  const session = await reprise.createSession('demo');
  await session.append(storyEvents);
  await session.fork('main@7', { name: 'other', edits: [{ kind: 'toolResult', call: 't1', output: { paid: 51 } }] });
  return { store, session };
}

async function exported(ref: string, rules: readonly string[] = [], script = parts.script): Promise<Exported> {
  const { store } = await world();
  return await exportOf(store, ref, rules, script);
}

async function exportOf(
  store: EventStore,
  ref: string,
  rules: readonly string[] = [],
  script = parts.script,
): Promise<Exported> {
  const page = await readyPage({
    store,
    openScratch: () => openMemoryStore({ platform }),
    platform,
    namespace: 'default',
    ref: parseRef(ref),
    rules,
    recording: { masking: {} },
    release: 'test',
    parts: { ...parts, script },
  });
  const html = page.text();
  const blocks = [...html.matchAll(/<script type="application\/octet-stream">([^<]*)<\/script>/g)];
  const packed = Buffer.concat(blocks.map(([, block = '']) => Buffer.from(block, 'base64')));
  return { html, rows: unpackRows(inflateSync(packed).toString()), preview: page.preview };
}

/** Restores what a page holds, as the page itself does. */
async function opened({ rows }: Pick<Exported, 'rows'>): Promise<Reprise> {
  const store = openMemoryStore({ platform });
  const ref = { namespace: 'default', session: rows.session };
  await store.createSession(ref, rows.created);
  for (const batch of rows.restores) await store.restore({ ...batch, ...ref });
  return await openReprise({ store, config: false });
}

const forgedDigest = 'f'.repeat(64) as Digest;

describe('an exported page', () => {
  test('is one file that lets nothing else run, whatever its code and rows hold', async () => {
    const { html } = await exported('demo');
    expect(html.match(/<\/script>/g)).toHaveLength(2);
    expect(html.match(/<\/style>/g)).toHaveLength(1);
    expect(html).toMatch(/content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/);
    expect(html).not.toContain('Order 7');
  });

  test('holds every branch, which verify and end where they end at the source', async () => {
    const page = await exported('demo');
    const reprise = await opened(page);
    const session = await reprise.session('demo');
    expect(page.rows.heads.map(({ branch }) => branch)).toEqual(['main', 'other']);
    for (const { branch, seq, digest } of page.rows.heads) {
      expect(await session.branch(branch).verify()).toMatchObject({ ok: true });
      expect(await session.branch(branch).locate()).toMatchObject({ seq, digest });
    }
    expect(page.rows.leftOut).toEqual([]);
  });

  test('has no digests but the last of each batch, and gets the others back', async () => {
    const page = await exported('demo');
    for (const { events } of page.rows.restores)
      expect(events.filter(({ digest }) => digest !== undefined)).toEqual(events.slice(-1));
    const session = await (await opened(page)).session('demo');
    const found: string[] = [];
    for await (const { digest } of session.replay({ history: 'raw' })) found.push(digest);
    expect(found).toHaveLength(10);
    expect(new Set(found.filter((digest) => /^[0-9a-f]{64}$/.test(digest))).size).toBe(10);
  });

  test.each<[string, (event: ChainedEvent) => Partial<ChainedEvent>]>([
    ['a payload', ({ data }) => ({ data: `${data} ` })],
    ['a salt', () => ({ salt: 'x' })],
    ['a time', () => ({ time: '2020-01-01T00:00:00.000Z' })],
    ['an id', () => ({ id: 'forged' })],
    ['an agent', () => ({ agent: 'forged' })],
    ['a cause', () => ({ cause: 'forged' })],
    ['a payload that was taken out', () => ({ data: null, salt: null, erased: true, dataDigest: forgedDigest })],
  ])('with %s that was forged is refused before it can be shown', async (_, forge) => {
    const page = await exported('demo');
    const [first, ...rest] = page.rows.restores;
    if (first === undefined) throw new Error('There is no batch');
    const events = first.events.map((event, at) => (at === 3 ? { ...event, ...forge(event) } : event));
    const rows = { ...page.rows, restores: [{ ...first, events }, ...rest] };
    await expect(opened({ rows })).rejects.toMatchObject({ code: 'event.damaged', details: { branch: 'main' } });
  });

  test('whose last event has no digest is refused: nothing would prove the others', async () => {
    const page = await exported('demo@5');
    const restores = page.rows.restores.map((batch) => ({
      ...batch,
      events: batch.events.map((event) => ({ ...event, digest: undefined })),
    }));
    await expect(opened({ rows: { ...page.rows, restores } })).rejects.toMatchObject({
      code: 'event.damaged',
      details: { seq: 5 },
    });
  });

  test('is restored again without a change, also in batches that begin before the head', async () => {
    const { rows } = await exported('demo@5');
    const store = openMemoryStore({ platform });
    const ref = { namespace: 'default', session: rows.session };
    await store.createSession(ref, rows.created);
    const [batch] = rows.restores;
    if (batch === undefined) throw new Error('There is no batch');
    const whole = await store.restore({ ...batch, ...ref });
    expect(await store.restore({ ...batch, ...ref })).toEqual(whole);
    for (const digest of [forgedDigest, undefined]) {
      const other = { ...batch, events: batch.events.map((event) => ({ ...event, digest })) };
      await expect(store.restore({ ...other, ...ref })).rejects.toMatchObject({ code: 'append.conflict' });
    }
  });

  test('of a point holds only what leads to it', async () => {
    const reprise = await opened(await exported('demo@5'));
    expect((await (await reprise.session('demo')).locate()).head).toBe(5);
    const fork = await opened(await exported('demo/other'));
    const { branch, children } = await (await fork.session('demo')).tree();
    expect([branch, children.map((child) => child.branch)]).toEqual(['main', ['other']]);
  });

  test.each([
    [['tool:lookup'], 'tool:lookup'],
    [['note.added', 'pattern:paid'], 'pattern'],
    [['call.*'], 'call.*'],
    [['agent:support'], 'agent:support'],
    [['field:output.paid', 'field:request.messages'], 'field:output.paid'],
    [['all'], 'all'],
  ])('leaves out whole payloads by %j, and still verifies', async (rules, rule) => {
    const page = await exported('demo', rules);
    expect(page.rows.leftOut.map((each) => each.rule)).toContain(rule);
    const text = JSON.stringify(page.rows);
    expect(text).not.toContain('"paid":50');
    expect(text).not.toContain('\\"paid\\":5');
    const session = await (await opened(page)).session('demo');
    for (const { branch, seq, digest } of page.rows.heads) {
      expect(await session.branch(branch).verify()).toMatchObject({ ok: true });
      expect(await session.at({ branch, seq }).locate()).toMatchObject({ digest });
    }
    for await (const event of session.replay({ history: 'raw' }))
      if (event.erased === true) expect(event.data).toEqual({ erased: true });
  });

  test('leaves out what the masking of recordings would have masked', async () => {
    const { store, session } = await world();
    await session.append({
      type: 'note.added',
      data: { text: 'The key is sk-proj-abcDEF1234567890abcDEF1234567890.' },
    });
    const { preview } = await exportOf(store, 'demo');
    expect(preview).toMatchObject({ rules: { secrets: 1 }, total: 1, leftOut: [{ seq: 11, rule: 'secrets' }] });
  });

  test('leaves out what people wrote into markers, with the rest of the metadata in place', async () => {
    const { store, session } = await world();
    const key = 'sk-proj-abcDEF1234567890abcDEF1234567890';
    const metadata = { $note: `of ${key}1`, kind: `${key}2`, team: 'support' };
    await session.fork('main@3', { name: 'b', reason: `because ${key}3`, metadata });
    await session.branch('b').rewind(3, { reason: `not ${key}4` });
    const { rows, preview } = await exportOf(store, 'demo');
    expect(JSON.stringify(rows)).not.toContain(key);
    expect(preview).toMatchObject({
      rules: { secrets: 2 },
      leftOut: [
        { branch: 'b', seq: 4, type: 'branch.forked', rule: 'secrets' },
        { branch: 'b', seq: 5, type: 'branch.rewound', rule: 'secrets' },
      ],
    });
    const copy = await (await opened({ rows })).session('demo');
    expect(await copy.branch('b').verify()).toMatchObject({ ok: true });
    expect(await copy.branch('b').metadata()).toEqual({
      $note: { erased: true },
      kind: { erased: true },
      team: 'support',
    });
  });

  test.each(['tools:x', 'agent:', 'nothing'])('refuses the rule %j', async (rule) => {
    await expect(exported('demo', [rule])).rejects.toMatchObject({ code: 'option.invalid' });
  });

  test('is refused over "exportHeldMax" before anything is copied, and a narrower ref is not', async () => {
    const { store, session } = await world();
    for (let count = 0; count < 20; count++)
      await session.append({ type: 'note.added', data: { text: 'x'.repeat(900) } });
    const restore = vi.fn<EventStore['restore']>();
    const openScratch = (): EventStore => Object.assign(openMemoryStore({ platform }), { restore });
    const about = { store, platform, namespace: 'default', rules: [], release: 'test', parts, recording: {} };
    const asked = { ...about, openScratch, ref: parseRef('demo'), heldMax: 20_000 };
    await expect(readyPage(asked)).rejects.toMatchObject({
      code: 'limit.exceeded',
      details: { limit: 'exportHeldMax' },
      hint: expect.stringContaining('earlier point'),
    });
    expect(restore).not.toHaveBeenCalled();
    const page = await readyPage({
      ...asked,
      ref: parseRef('demo@10'),
      openScratch: () => openMemoryStore({ platform }),
    });
    expect(page.preview.events).toBe(10);
  });

  test('is refused over "exportBytesMax"', async () => {
    await expect(exported('demo', [], 'x'.repeat(limits.exportBytesMax))).rejects.toMatchObject({
      code: 'limit.exceeded',
    });
  });
});
