import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type LimitName, limits } from '../../src/core/limits.ts';
import { createPartMemory, encodeData } from '../../src/core/parts/encode.ts';
import type { Digest, Seq } from '../../src/core/point.ts';
import { planAppend } from '../../src/core/store/append.ts';
import type { AppendRequest } from '../../src/core/store/event-store.ts';
import type { Marker } from '../../src/core/view/marker.ts';
import {
  createNodePlatform,
  defineProjection,
  type EventDraft,
  openMemoryStore,
  openReprise,
  openSqliteStore,
  type Reprise,
  RepriseError,
  type Session,
} from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import type { EventStore } from '../../src/store.ts';
import { countingStore } from './counting-store.ts';

const platform = createNodePlatform();
let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-limits-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Opened {
  readonly store: EventStore;
  readonly session: Session;
  readonly reprise: Reprise;
  readonly path: string;
}

const ref = { namespace: 'default', session: 'demo' };
const note = (text: string): EventDraft => ({ type: 'note.added', data: { text } });
const range = (through: number) => [
  { branch: 'main', after: 0 as Seq, through: through as Seq, except: [], carried: false },
];
const reading = { direction: 'forward', select: 'full' } as const;

async function exceeds(name: LimitName, what: () => Promise<unknown>): Promise<void> {
  const error = await what().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RepriseError);
  expect(error).toMatchObject({ code: 'limit.exceeded', details: { limit: name, max: limits[name] } });
  expect((error as RepriseError).message).toContain(name);
}

type Reached = (opened: Opened) => Promise<void>;

/** How each limit is reached. Those of pure folds and of waiting are reached by the tests that are named. */
const reached: Readonly<Record<LimitName, Reached | string>> = {
  verbArgumentsBytesMax: 'test/server/door-json.test.ts',
  verbAnswerBytesMax: 'test/server/door-json.test.ts',
  serverBodyBytesMax: 'test/server/limits.test.ts',
  serverBodyMsMax: 'test/server/limits.test.ts',
  serverCallsPerSecondMax: 'test/server/limits.test.ts',
  serverStalledMsMax: 'test/server/limits.test.ts',
  serverSpansMax: 'test/server/spans.test.ts',
  otlpMessagesMax: 'test/import/protobuf.test.ts',
  serverGatherMsMax: 'test/server/spans.test.ts',
  serverBytesInFlightMax: 'test/server/limits.test.ts',
  serverHeaderBytesMax: 'test/server/limits.test.ts',
  serverConnectionsMax: 'test/server/limits.test.ts',
  serverStreamsMax: 'test/server/limits.test.ts',
  serverGreetingMsMax: 'test/server/limits.test.ts',
  serverIdleMsMax: 'test/server/limits.test.ts',
  serverGraceMsMax: 'test/server/limits.test.ts',

  shownEventsMax: 'test/contract/studio-reading.test.ts',
  shownTextMax: 'test/contract/studio-reading.test.ts',
  shownBytesMax: 'src/reading/looks/cut-value.test.ts',
  shownStretchMax: 'src/reading/looks/cut-value.test.ts',
  shownGistMax: 'src/reading/looks/cut-value.test.ts',
  shownRowsMax: 'test/contract/studio-reading.test.ts',
  searchHitsMax: 'test/contract/studio-reading.test.ts',
  searchEventsMax: 'test/contract/studio-reading.test.ts',
  comparedRefsMax: 'test/contract/studio-reading.test.ts',
  causesShownMax: 'test/contract/studio-reading.test.ts',
  runsOpenMax: 'test/server/studio.test.ts',
  runsEndedMax: 'test/server/studio.test.ts',
  subscriptionsMax: 'test/server/studio.test.ts',
  exportBytesMax: 'test/server/exported-page.test.ts',
  exportHeldMax: 'test/server/exported-page.test.ts',

  idBytesMax: async ({ session }) => {
    const error = await session
      .append({ ...note('a'), agent: 'x'.repeat(limits.idBytesMax + 1) })
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'id.invalid', message: expect.stringContaining(String(limits.idBytesMax)) });
    await session.append({ ...note('a'), agent: 'x'.repeat(limits.idBytesMax) });
  },
  typeBytesMax: ({ session }) =>
    exceeds('typeBytesMax', () => session.append({ type: `a.${'b'.repeat(limits.typeBytesMax)}` })),
  payloadBytesMax: async ({ session }) => {
    const content = 'x'.repeat(limits.payloadBytesMax + 1);
    await exceeds('payloadBytesMax', () => session.append(note(content)));
    await exceeds('payloadBytesMax', () => session.append(note('é'.repeat(limits.payloadBytesMax / 2))));
    await exceeds('payloadBytesMax', () =>
      session.append({ type: 'message.added', data: { message: { role: 'user', content } } }),
    );
  },
  jsonDepthMax: async ({ session }) => {
    let value: unknown = 1;
    for (let depth = 0; depth <= limits.jsonDepthMax; depth++) value = [value];
    await expect(session.append({ type: 'x.made', data: { value } as never })).rejects.toMatchObject({
      code: 'json.too-deep',
    });
  },
  appendEventsMax: ({ session }) =>
    exceeds('appendEventsMax', () =>
      session.append(Array.from({ length: limits.appendEventsMax + 1 }, () => note('a'))),
    ),
  appendBytesMax: async ({ session }) => {
    const text = 'x'.repeat(14_000_000);
    const batch = (make: (index: number) => EventDraft): EventDraft[] =>
      Array.from({ length: 5 }, (_, index) => make(index));
    await exceeds('appendBytesMax', () => session.append(batch(() => note(text))));
    const parted = (index: number): EventDraft => ({
      type: 'message.added',
      data: { message: { role: 'user', content: `${index}${text}` } },
    });
    await exceeds('appendBytesMax', () => session.append(batch(parted)));
  },
  eventKeysMax: ({ session }) => {
    const operations = Array.from({ length: limits.eventKeysMax + 1 }, (_, index) => ({
      agent: 'a',
      key: `k${index}`,
      op: 'write',
      value: 1,
      version: 1,
    }));
    return exceeds('eventKeysMax', () => session.append({ type: 'state.committed', data: { operations } }));
  },
  keyBytesMax: async ({ session }) => {
    for (const key of ['k'.repeat(limits.keyBytesMax), 'é'.repeat(limits.keyBytesMax / 2)]) {
      await exceeds('keyBytesMax', () =>
        session.append({ type: 'belief.committed', data: { claim: 'so', topic: key } }),
      );
    }
  },
  selectedKeysMax: async ({ store, session }) => {
    const keys = Array.from({ length: limits.selectedKeysMax + 1 }, (_, index) => `k${index}`);
    await exceeds('selectedKeysMax', () => session.append(note('a'), { unchanged: { since: 0, keys } }));
    await exceeds('selectedKeysMax', () => store.latest(ref, range(1), { keys }, { limit: 10, select: 'header' }));
  },
  pageEventsMax: async ({ store, session }) => {
    await session.append(Array.from({ length: limits.pageEventsMax + 10 }, () => note('a')));
    const page = await store.read(ref, range(limits.pageEventsMax + 10), { ...reading, limit: 1e9 });
    expect([page.events.length, page.next !== undefined]).toEqual([limits.pageEventsMax, true]);
  },
  pageBytesMax: async ({ store, session }) => {
    for (let count = 0; count < 6; count++) await session.append(note('x'.repeat(1_000_000)));
    const page = await store.read(ref, range(6), { ...reading, limit: 6, bytesMax: 1e12 });
    expect([page.events.length, page.next !== undefined]).toEqual([4, true]);
  },
  pageScanMax: async ({ store, session }) => {
    const count = limits.pageScanMax + 10;
    for (let from = 0; from < count; from += limits.appendEventsMax)
      await session.append(Array.from({ length: Math.min(limits.appendEventsMax, count - from) }, () => note('a')));
    const page = await store.read(ref, range(count), { ...reading, limit: 10, filter: { types: ['goal.set'] } });
    expect(page.events).toEqual([]);
    expect(page.next?.seq).toBeLessThanOrEqual(limits.pageScanMax);
  },
  partsAskedMax: ({ store }) =>
    exceeds('partsAskedMax', () =>
      store.parts(
        ref,
        Array.from({ length: limits.partsAskedMax + 1 }, (_, index) => platform.sha256(String(index))),
      ),
    ),
  partsPageMax: async ({ store, session }) => {
    const count = limits.partsPageMax + 10;
    const messages: { role: string; content: string }[] = [];
    for (let index = 0; index < count; index++) messages.push({ role: 'user', content: `${index} ${'x'.repeat(600)}` });
    await session.append({
      type: 'call.started',
      data: { call: 'c', kind: 'model', name: 'm', request: { messages } },
    });
    const [held] = (await store.read(ref, range(1), { ...reading, limit: 1 })).events;
    const list = /"\$list":"([0-9a-f]{64})"/.exec(held?.data ?? '')?.[1] as Digest;
    const found = new Set<Digest>();
    for (let open: readonly Digest[] = [list]; open.length > 0; ) {
      const page = await store.parts(ref, open.slice(0, limits.partsAskedMax));
      expect(page.parts.size).toBeLessThanOrEqual(limits.partsPageMax);
      for (const digest of page.parts.keys()) found.add(digest);
      open = [...open.slice(limits.partsAskedMax), ...page.rest].filter((digest) => !found.has(digest));
    }
    expect(found.size).toBe(count + 1);
    const [event] = await Array.fromAsync(session.replay());
    expect(event?.data['request']).toEqual({ messages });
  },
  partBytesMin: async ({ store, session }) => {
    const message = (content: string): EventDraft => ({
      type: 'message.added',
      data: { message: { role: 'user', content } },
    });
    await session.append(message('x'.repeat(limits.partBytesMin / 2)));
    expect(await store.heldParts(ref, { limit: 10 })).toHaveLength(0);
    await session.append(message('x'.repeat(limits.partBytesMin)));
    expect(await store.heldParts(ref, { limit: 10 })).toHaveLength(1);
  },
  keptTextPartBytesMin: async ({ store, session }) => {
    const kept = (text: string): EventDraft => ({ type: 'note.added', data: { text: 'x', foreign: { at: 0, text } } });
    await session.append(kept('x'.repeat(limits.keptTextPartBytesMin / 2)));
    expect(await store.heldParts(ref, { limit: 10 })).toHaveLength(0);
    await session.append(kept('x'.repeat(limits.keptTextPartBytesMin)));
    expect(await store.heldParts(ref, { limit: 10 })).toHaveLength(1);
  },
  partChainMax: async () => {
    const memory = createPartMemory();
    const event = (messages: readonly unknown[], body: string) =>
      ({
        type: 'call.started',
        version: 1,
        data: { call: 'c', kind: 'model', name: 'm', request: { messages, body } },
      }) as never;
    const textOf = (kind: string, parts: readonly { readonly kind: string; readonly text: string }[]): string =>
      parts.find((part) => part.kind === kind)?.text ?? '';
    encodeData(event(['a'], 'body '.repeat(200)), platform, memory);
    const [place, list] = [...memory.lists][0] ?? ['', { texts: [], nodes: [] }];
    const second = encodeData(event(['a', 'b'], 'body '.repeat(201)), platform, memory);
    expect([textOf('list', second.parts).includes('"previous":null'), textOf('delta', second.parts) === '']).toEqual([
      false,
      false,
    ]);
    memory.lists.set(place, {
      texts: list.texts,
      nodes: Array.from({ length: limits.partChainMax }, () => list.nodes[0] as never),
    });
    for (const [key, body] of Array.from(memory.bodies))
      memory.bodies.set(key, { ...body, chain: limits.partChainMax - 1 });
    const last = encodeData(event(['a', 'b', 'c'], 'body '.repeat(202)), platform, memory);
    expect([textOf('list', last.parts).includes('"previous":null'), textOf('delta', last.parts)]).toEqual([true, '']);
  },
  filterTextMax: async ({ session }) => {
    const text = 'x'.repeat(limits.filterTextMax + 1);
    await expect(session.find({ text })).rejects.toMatchObject({
      code: expect.stringMatching(/limit.exceeded|filter.invalid/),
    });
    await expect(session.find({ fields: [{ key: 'a', pattern: text }] })).rejects.toMatchObject({
      code: expect.stringMatching(/limit.exceeded|filter.invalid/),
    });
  },
  filterPatternMax: async ({ session }) => {
    await expect(session.find({ fields: [{ key: 'a', pattern: '(a{50}){50}' }] })).rejects.toMatchObject({
      code: 'filter.invalid',
      message: expect.stringContaining(String(limits.filterPatternMax)),
    });
  },
  diffCellsMax: async ({ session, reprise }) => {
    const notes = (name: string): EventDraft[] => Array.from({ length: 1_000 }, (_, index) => note(`${name} ${index}`));
    await session.append(notes('left'));
    const other = await session.fork('main@0', { name: 'other' });
    await other.append(notes('right'));
    expect(notes('').length ** 2).toBeGreaterThan(limits.diffCellsMax);
    const found = await reprise.diff('demo', 'demo/other');
    expect(found.identical).toBe(false);
    expect(found.pairs.length).toBeLessThanOrEqual(2_000);
  },
  diffDetailsMax: 'src/core/comparing/diff.test.ts',
  diffItemsMax: 'src/core/comparing/value-diff.test.ts',
  maskedTextsMax: 'src/core/masking/masking.test.ts',
  maskedValuesMax: 'src/core/masking/masking.test.ts',
  maskedValueUnitsMax: 'src/core/masking/masking.test.ts',
  ownPatternMsMax: 'src/core/masking/own-rules.test.ts',
  ownPatternTriesMax: 'src/core/masking/own-rules.test.ts',
  conversationLanesMax: 'src/projections/conversation.test.ts',
  conversationInsideMax: 'src/projections/conversation.test.ts',
  titleCharactersMax: 'src/projections/summary.test.ts',
  summaryAgentsMax: 'src/projections/summary.test.ts',
  errorTextMax: 'src/core/recording/error-record.test.ts',
  erasableTextMin: async ({ session }) => {
    const texts = ['abc', 'abcd'];
    expect(texts.map((text) => text.length)).toEqual([limits.erasableTextMin - 1, limits.erasableTextMin]);
    await session.append([...texts, ...texts].map(note));
    const kept = async (seq: number, text: string): Promise<boolean> => {
      await session.erase(`main@${seq}`, { reason: 'asked' });
      const events = await Array.fromAsync(session.replay());
      return events.some(({ data }) => data['text'] === text);
    };
    expect(await kept(1, 'abc')).toBe(true);
    expect(await kept(2, 'abcd')).toBe(false);
  },
  markersMax: async () => {
    const filler: Marker = { branch: 'main', seq: 1 as Seq, kind: 'erased', seqs: [], parts: [] };
    const markers = Array.from({ length: limits.markersMax }, () => filler);
    const digest = '' as Digest;
    const state = {
      branch: 'main',
      history: { root: 'main', markers, head: 1 as Seq },
      digest,
      epoch: 0 as Seq,
      turn: 0,
    };
    const event = { id: 'a', time: '', type: 'branch.rewound', version: 1, data: '{"to":1}', keys: [] };
    const request: AppendRequest = {
      ...ref,
      target: { kind: 'branch', branch: 'main' },
      events: [event],
      parts: [],
      condition: { kind: 'head', seq: 1 as Seq },
    };
    await exceeds('markersMax', async () =>
      planAppend(state, request, { stored: new Map(), turnAt: () => 0 }, platform),
    );
  },
  lineageDepthMax: async ({ store, session, path }) => {
    if (path === '') return;
    await session.append(note('a'));
    deepen(path, limits.lineageDepthMax);
    // The verb refuses the branches that were made past the store, so the store is asked itself.
    const parent = { branch: `b${limits.lineageDepthMax}`, seq: (limits.lineageDepthMax + 1) as Seq };
    const event = {
      id: 'deeper',
      time: '2026-01-01T00:00:00.000Z',
      type: 'branch.forked',
      version: 1,
      data: '{}',
      keys: [],
    };
    const target = { kind: 'fork', branch: 'deeper', parent } as const;
    const [outcome] = await store.append([{ ...ref, target, events: [event], parts: [], condition: { kind: 'any' } }]);
    await exceeds('lineageDepthMax', () => Promise.reject(outcome?.ok === false ? outcome.error : undefined));
  },
  queuedAppendsMax: async ({ store, path }) => {
    if (path === '') return;
    const request = (index: number): AppendRequest => ({
      ...ref,
      target: { kind: 'branch', branch: 'main' },
      events: [
        {
          id: `q${index}`,
          time: '2026-01-01T00:00:00.000Z',
          type: 'note.added',
          version: 1,
          data: '{"text":"a"}',
          keys: [],
        },
      ],
      parts: [],
      condition: { kind: 'any' },
    });
    const outcomes = await store.append(
      Array.from({ length: limits.queuedAppendsMax + 1 }, (_, index) => request(index)),
    );
    const refused = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error]));
    expect(refused).toHaveLength(1);
    await exceeds('queuedAppendsMax', () => Promise.reject(refused[0] as RepriseError));
  },
  recordQueueEventsMax: 'src/engine/recording/record-failures.test.ts',
  recordQueueBytesMax: 'src/engine/recording/record-failures.test.ts',
  recordAttemptsMax: 'src/engine/recording/record-failures.test.ts',
  recordErrorsMax: 'src/engine/recording/record-failures.test.ts',
  snapshotEventsMin: 'test/contract/traps.test.ts',
  snapshotBytesFactor: 'test/contract/traps.test.ts',
  snapshotBytesMax: async ({ store, path }) => {
    // The engine decides what is worth keeping, and writing 80 MB once is enough.
    if (path !== '') return;
    const counted = countingStore(store);
    const reprise = await openWith({ store: counted.store, platform }, { snapshotEvents: 1 });
    const session = await reprise.session('demo');
    let reads = 0;
    const grown = (size: number) =>
      defineProjection({
        name: 'grown',
        version: String(size),
        history: 'view',
        initial: () => ({}),
        apply: () => ({
          text: 'x'.repeat(size),
          // Text is made of a value by reading all of it; that it is too long is found before.
          get looked() {
            reads += 1;
            return true;
          },
        }),
      });
    // All events together weigh more than a snapshot, so that its own size alone decides.
    for (let count = 0; count < 8; count++) await session.append(note('y'.repeat(10_000_000)));
    await session.fold(grown(limits.snapshotBytesMax + 1));
    expect(counted.calls.putSnapshot ?? 0).toBe(0);
    expect(reads, 'a fold stops at what is too large, and makes no text of the value').toBe(0);
    await session.fold(grown(1_000));
    expect(counted.calls.putSnapshot).toBeGreaterThan(0);
  },
  importTextMax: 'test/seeds/shipit-import.test.ts',
  importUnitBytesMax: 'test/import/port.test.ts',
  importWarningsMax: 'test/import/port.test.ts',
  importFilesMax: 'test/import/port.test.ts',
  importBasesMax: 'test/import/codex-base.test.ts',
  bundleBytesMax: 'test/import/tampering.test.ts',
  bundleManifestBytesMax: 'test/import/tampering.test.ts',
  bundleLineBytesMax: 'test/import/tampering.test.ts',
  sessionsPageMax: async ({ store }) => {
    for (let count = 0; count < limits.sessionsPageMax; count++)
      await store.createSession({ ...ref, session: `s${count}` }, { root: 'main', seed: 'x' });
    const page = await store.sessions({ limit: 1e9 });
    expect([page.sessions.length, page.next !== undefined]).toEqual([limits.sessionsPageMax, true]);
  },
  topicBytesMax: async ({ session }) => {
    const longest = '\u0000'.repeat(limits.topicBytesMax);
    await session.beliefs.commit({ topic: longest, kind: 'fact', claim: 'it is' });
    expect(await session.beliefs.list({ topic: longest })).toHaveLength(1);
    await exceeds('topicBytesMax', () => session.beliefs.commit({ topic: `${longest}a`, claim: 'it is' }));
    await exceeds('topicBytesMax', () => session.spawn('a', { scope: [`${longest}a`] }));
  },
  scopeTopicsMax: async ({ session }) => {
    const topics = Array.from({ length: limits.scopeTopicsMax }, (_, index) => `t${index}`);
    await session.spawn('a', { scope: topics });
    await exceeds('scopeTopicsMax', () => session.spawn('b', { scope: [...topics, 'one more'] }));
  },
  judgementMsMax: 'src/engine/believing/judge.test.ts',
  stateKeyBytesMax: async ({ session }) => {
    const { state } = session;
    const longest = '\u0000'.repeat(limits.stateKeyBytesMax);
    const owner = state.as('x'.repeat(limits.idBytesMax));
    await owner.transaction((tx) => tx.write(longest, 1));
    expect((await owner.get(longest)).value).toBe(1);
    await exceeds('stateKeyBytesMax', () => owner.get(`${longest}a`));
    await exceeds('stateKeyBytesMax', () => owner.transaction((tx) => tx.delete(`${longest}a`)));
    await exceeds('stateKeyBytesMax', () =>
      session.fork('main', { edits: [{ kind: 'state', key: `${longest}a`, value: 1 }] }),
    );
  },
  stateValueBytesMax: async ({ session }) => {
    const { state } = session;
    const largest = 'x'.repeat(limits.stateValueBytesMax - 2);
    await state.transaction((tx) => tx.write('a', largest));
    await exceeds('stateValueBytesMax', () => state.transaction((tx) => tx.write('a', `${largest}x`)));
    await exceeds('stateValueBytesMax', () =>
      session.fork('main', { edits: [{ kind: 'state', key: 'a', value: `${largest}x` }] }),
    );
  },
  transactionOperationsMax: async ({ session: { state } }) => {
    const tx = state.begin();
    for (let count = 0; count < limits.transactionOperationsMax; count++) tx.write(`k${count}`, count);
    await exceeds('transactionOperationsMax', async () => tx.write('one more', 1));
    await exceeds('transactionOperationsMax', async () => tx.delete('one more'));
    expect((await tx.commit()).versions).toHaveLength(limits.transactionOperationsMax);
  },
  transactionReadsMax: async ({ session: { state } }) => {
    const tx = state.begin();
    for (let count = 0; count < limits.transactionReadsMax; count++) await tx.get(`k${count}`);
    await tx.get('k0');
    await exceeds('transactionReadsMax', () => tx.get('one more'));
    await exceeds('transactionReadsMax', () => tx.scan('k').next());
    tx.write('a', 1);
    await tx.commit();
  },
  transactionMsMax: ({ session: { state } }) =>
    exceeds('transactionMsMax', async () => state.begin({ timeoutMs: limits.transactionMsMax + 1 })),
  openTransactionsMax: async ({ session: { state } }) => {
    const [first] = Array.from({ length: limits.openTransactionsMax }, () => state.begin());
    await exceeds('openTransactionsMax', async () => state.begin());
    first?.abort();
    state.begin();
  },
  transactionRetriesMax: ({ session: { state } }) =>
    exceeds('transactionRetriesMax', () =>
      state.transaction(() => undefined, { retries: limits.transactionRetriesMax + 1 }),
    ),
  commitTriesMax: 'src/engine/state/commit.test.ts',
  summaryEventsMax: 'src/engine/history/keep-snapshots.test.ts',
  summariesRunningMax: 'src/engine/history/keep-snapshots.test.ts',
  conversationEventsMax: 'src/engine/history/keep-snapshots.test.ts',
  runsRememberedMax: 'src/core/comparing/resumption.test.ts',
  questionsMax: 'src/core/recording/person-calls.test.ts',
  bodiesKeptMax: 'src/engine/history/stored-events.test.ts',
  batchBodiesMax: 'src/engine/history/stored-events.test.ts',
  snapshotWaitMsMax: 'test/contract/sqlite/processes.test.ts',
  resumeGraceMsMax: async ({ session }) => {
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Well?' } } });
    const started = Promise.withResolvers<void>();
    const forever = (): Promise<never> => {
      started.resolve();
      return new Promise(() => undefined);
    };
    let isOver = false;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const resumed = session.resume(forever, { timeoutMs: 1 }).finally(() => {
        isOver = true;
      });
      const refusal = expect(resumed).rejects.toMatchObject({ code: 'resume.timeout' });
      await started.promise;
      await vi.advanceTimersByTimeAsync(limits.resumeGraceMsMax);
      expect(isOver).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      await refusal;
    } finally {
      vi.useRealTimers();
    }
  },
  simulationMsMax: async ({ session }) => {
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Pay.' } } });
    const asked = Promise.withResolvers<void>();
    const simulate = (): Promise<never> => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    const pay = { kind: 'tool', name: 'pay', effect: 'irreversible' } as const;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const resumed = session.resume(async ({ recorder }) => recorder.call(pay, () => 'paid'), {
        effects: { pay: { simulate } },
      });
      const refusal = expect(resumed).rejects.toMatchObject({
        code: 'simulation.failed',
        message: `Cannot simulate "pay": it did not answer within ${limits.simulationMsMax} ms`,
      });
      await asked.promise;
      await vi.advanceTimersByTimeAsync(limits.simulationMsMax);
      await refusal;
    } finally {
      vi.useRealTimers();
    }
  },
  foreseenCallsMax: async ({ session }) => {
    const call = (id: number): EventDraft => ({
      type: 'call.started',
      data: { call: `c${id}`, kind: 'tool', name: 'look', input: { id } },
    });
    await session.append(Array.from({ length: limits.foreseenCallsMax + 1 }, (_, id) => call(id)));
    const { calls } = await session.at('main@0').resumable();
    expect(calls.length).toBe(limits.foreseenCallsMax);
  },
  experimentBranchesMax: ({ session }) =>
    exceeds('experimentBranchesMax', () =>
      session.experiment({
        variants: [{ name: 'a' }, { name: 'b' }],
        repeats: limits.experimentBranchesMax / 2 + 1,
        agent: async () => 'x',
      }),
    ),
  experimentRowsMax: ({ reprise }) =>
    exceeds('experimentRowsMax', () =>
      reprise.experiment({
        sessions: Array.from({ length: limits.experimentRowsMax + 1 }, (_, index) => `s${index}`),
        variants: [{ name: 'a' }],
        agent: async () => 'x',
      }),
    ),
  scoresMax: 'src/core/comparing/check-answer.test.ts',
  receiptTextMax: async ({ session, reprise }) => {
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Well?' } } });
    const text = 'x'.repeat(limits.receiptTextMax + 1);
    const { id, rows } = await session.experiment({ variants: [{ name: 'a' }], agent: async () => text });
    expect(rows[0]?.text).toBe(text);
    const found = await reprise.findExperiment(id);
    expect(found.rows[0]?.text).toBe(`${text.slice(1)}…`);
  },
  experimentParallelMax: ({ session }) =>
    exceeds('experimentParallelMax', () =>
      session.experiment({
        variants: [{ name: 'a' }],
        parallel: limits.experimentParallelMax + 1,
        agent: async () => 'x',
      }),
    ),
  busyWaitMsMax: 'test/crash/processes.test.ts',
  busyWaitGivenMsMax: async () => {
    const waiting = (busyWaitMs: number): Promise<Reprise> =>
      openReprise({ store: `sqlite:${join(directory, 'waiting.db')}`, busyWaitMs });
    await exceeds('busyWaitGivenMsMax', () => waiting(limits.busyWaitGivenMsMax + 1));
    await (await waiting(limits.busyWaitGivenMsMax)).close();
  },
  connectionsMax: 'test/postgres/failures.test.ts',
  connectWaitMsMax: 'test/postgres/failures.test.ts',
  statementMsMax: 'test/postgres/failures.test.ts',
  scriptedRequestsMax: 'test/frameworks/model-server.test.ts',
  checkMsMax: 'src/cli/running/check-command.test.ts',
  contextItemTokensMax: 'src/core/coding/coding-book.test.ts',
  recordCharactersMax: 'src/core/coding/coding-book.test.ts',
  recordSourcesMax: 'src/core/coding/coding-book.test.ts',
  recordsMax: 'src/core/coding/coding-book.test.ts',
  codingRunsMax: 'src/core/coding/coding-book.test.ts',
  patchedFileMax: 'src/core/coding/coding-book.test.ts',
  riskBytesMax: ({ session }) =>
    exceeds('riskBytesMax', () => session.coding.risk({ title: 'a', content: 'x'.repeat(limits.riskBytesMax + 1) })),
  risksMax: async ({ session }) => {
    const risk = { type: 'risk.quarantined', data: { title: 'Again' } };
    await session.append(Array.from({ length: limits.risksMax - 1 }, () => risk));
    await session.coding.risk({ title: 'The last one' });
    await exceeds('risksMax', () => session.coding.risk({ title: 'One too many' }));
  },
  risksBytesMax: async ({ session }) => {
    const content = 'x'.repeat(limits.riskBytesMax);
    await session.coding.risk({ title: 'a', content });
    await exceeds('risksBytesMax', () => session.coding.risk({ title: 'b', content }));
  },
  reportTextMax: 'src/core/coding/reports/read-report.test.ts',
  reportEntryMax: 'src/core/coding/reports/read-report.test.ts',
  reportTestsMax: 'src/core/coding/reports/read-report.test.ts',
};

/** Puts a line of branches into the file, each forked from the one before. */
function deepen(path: string, depth: number): void {
  const database = new DatabaseSync(path);
  database.exec(`
    WITH RECURSIVE line (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM line WHERE n < ${depth})
    INSERT INTO branches (id, session_id, name, parent_id, parent_seq)
    SELECT n + 1, 1, 'b' || n, n, n FROM line;
    CREATE TEMP TABLE copied AS SELECT * FROM events WHERE seq = 1;
    UPDATE copied SET type = 'branch.forked', marker = 1, data = '{}';
    CREATE TEMP TABLE line AS SELECT n FROM (WITH RECURSIVE line (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM line WHERE n < ${depth}) SELECT n FROM line);
    CREATE TEMP TABLE rows AS SELECT copied.*, n FROM copied, line;
    UPDATE rows SET branch_id = n + 1, seq = n + 1, id = 'forked ' || n;
    ALTER TABLE rows DROP COLUMN n;
    INSERT INTO events SELECT * FROM rows;`);
  database.close();
}

const stores: Readonly<Record<string, () => Promise<{ readonly store: EventStore; readonly path: string }>>> = {
  memory: async () => ({ store: openMemoryStore({ platform }), path: '' }),
  sqlite: async () => {
    const path = join(directory, `${files++}.db`);
    return { store: await openSqliteStore({ path, platform, durability: 'process' }), path };
  },
};

describe.each(Object.entries(stores))('I9 nothing is unbounded on %s:', (_, open) => {
  test.each(Object.entries(reached))('%s', async (name, reach) => {
    if (typeof reach === 'string') {
      expect(readFileSync(reach, 'utf8')).toContain(name);
      return;
    }
    const { store, path } = await open();
    await using reprise = await openReprise({ store, platform });
    await reach({ store, path, reprise, session: await reprise.createSession('demo') });
  });
});
