/** Content that is large, wide or hostile: every answer of the studio stays within its bounds and says what was recorded. */
import { type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { RepriseError } from '../../src/core/error.ts';
import type { EventDraft } from '../../src/core/event/event.ts';
import { limits } from '../../src/core/limits.ts';
import { refText } from '../../src/core/ref.ts';
import { type Agent, openReprise, type Reprise } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { BranchRow } from '../../src/reading/looks/branch-rows.ts';
import type { ContextAnswer } from '../../src/reading/looks/call-context.ts';
import type { SearchHit } from '../../src/reading/looks/event-search.ts';
import type { StudioRun } from '../../src/reading/looks/run-orders.ts';
import type { SessionRow } from '../../src/reading/looks/session-rows.ts';
import { serveWith } from '../../src/serve-store.ts';
import { makeToken, type Server } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { StudioService } from '../../src/wire/generated/reprise/v1/studio_pb.ts';

const platform = createNodePlatform();
const { token, record } = makeToken({ rights: ['admin'] }, platform);
const store = openMemoryStore({ platform });
let server: Server;
let reprise: Reprise;
let studio: ReturnType<typeof clientOf>;

const id = 'a/b@c:d%e <script>';
const huge = 'x'.repeat(12 * 1_048_576);
const line = 'y'.repeat(300_000);
const acts = '<script>alert(1)</script></script><!-- \u001b[31m\u001b]0;t\u0007 \u202e \u2066 \u0000';
const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key ${index}`, index]));
const lanes = 60;
const branches = 300;

const call = (agent: string, about: object): EventDraft => ({
  type: 'call.started',
  agent,
  run: `run of ${agent}`,
  data: { call: `c of ${agent}`, kind: 'model', name: 'large-1', ...about },
});
const request = (content: string): object => ({
  request: {
    system: line,
    messages: [{ role: 'user', content }],
    tools: [{ name: 't', description: line }],
    settings: keys,
  },
});

/** The seqs: title 1, message 2, call 3 and 4, note 5, long key 6, state 7, question 8, end 9. */
const hostile: readonly EventDraft[] = [
  { type: 'run.started', agent: 'a', run: 'r', data: { title: line } },
  { type: 'message.added', agent: 'a', run: 'r', data: { message: { role: 'user', content: line } } },
  { ...call('a', request('short')), run: 'r' },
  {
    type: 'call.ended',
    agent: 'a',
    run: 'r',
    data: {
      call: 'c of a',
      kind: 'model',
      name: 'large-1',
      outcome: 'ok',
      message: { role: 'assistant', content: line },
    },
  },
  { type: 'note.added', agent: 'a', run: 'r', data: { text: acts, keys } },
  { type: 'note.added', agent: 'a', run: 'r', data: { text: 'found under a long key', [line]: { deep: 'needle' } } },
  {
    type: 'state.committed',
    agent: 'a',
    run: 'r',
    data: {
      operations: [{ agent: 'a', key: acts.replaceAll('\u0000', ''), op: 'write', value: keys, version: 1 }],
    },
  },
  {
    type: 'call.started',
    agent: 'a',
    run: 'r',
    data: { call: 'q', kind: 'person', name: 'question', input: line },
  },
  { type: 'run.ended', agent: 'a', run: 'r', data: { outcome: 'waiting', result: line } },
];

function clientOf(held: string) {
  const authorized: Interceptor = (next) => (asked) => {
    asked.header.set('authorization', `Bearer ${held}`);
    return next(asked);
  };
  const transport = createConnectTransport({ baseUrl: server.url, httpVersion: '1.1', interceptors: [authorized] });
  return createClient(StudioService, transport);
}

beforeAll(async () => {
  const talker: Agent = async (_context) => line;
  server = await serveWith(
    { store, port: 0, agents: { agents: { talker } } },
    { tokens: [record], examine: async () => ({ ok: true }) },
  );
  studio = clientOf(token);
  reprise = await openReprise({ store, config: false });
  const bad = await reprise.createSession(id);
  for (const draft of hostile) await bad.append(draft);
  await bad.fork('main@6', { name: 'b/c@d', reason: line, edits: [{ kind: 'prompt', text: line }] });
  await (await reprise.createSession('huge')).append({ type: 'note.added', data: { text: huge } });
  const wide = await reprise.createSession('wide');
  const agents = Array.from({ length: lanes }, (_, index) => `agent ${index}`);
  await wide.append(
    agents.map((agent) => call(agent, { request: { messages: [{ role: 'user', content: `task of ${agent}` }] } })),
  );
  for (let count = 1; count < branches; count++) await wide.fork(`main@${(count % lanes) + 1}`, { name: `b${count}` });
});
afterAll(() => server.close());

const bad = { session: id };

function sizeOf<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): number {
  return toBinary(schema, message).length;
}

type Unary = Exclude<keyof typeof StudioService.method, 'readIndex' | 'follow' | 'exportPage' | 'answerQuestion'>;
type Look = () => Promise<MessageShape<DescMessage>>;

/** JSON escapes some characters, and what was cut is listed. */
const wholeMax = limits.shownBytesMax * 1.5;
const rowsMax = 65_536;
const nine = Array.from({ length: 9 }, (_, index) => BigInt(index + 1));

/** A request to each call for the most that it has to say about the hostile session, and the bytes of an answer. */
const looks: Readonly<Record<Unary, readonly [bytesMax: number, look: Look]>> = {
  readSessions: [rowsMax, () => studio.readSessions({})],
  readEvents: [wholeMax, () => studio.readEvents({ ...bad, seqs: Array(22).fill(nine).flat() })],
  readGists: [4_096, () => studio.readGists({ ...bad, seqs: nine })],
  readText: [
    limits.shownStretchMax + 100,
    () => studio.readText({ session: 'huge', seq: 1n, path: '/data/text', length: 99_999_999n }),
  ],
  readContext: [wholeMax, () => studio.readContext({ ...bad, point: 'main@4', limit: 1_000 })],
  readKnown: [wholeMax, () => studio.readKnown({ ...bad, since: 'main@1' })],
  readChanges: [rowsMax, () => studio.readChanges({ ...bad, projection: 'state' })],
  readCauses: [rowsMax, () => studio.readCauses({ ...bad, point: 'main@4' })],
  searchEvents: [rowsMax, () => studio.searchEvents({ ...bad, text: 'y' })],
  compareViews: [
    wholeMax,
    () => studio.compareViews({ left: refText(bad), right: refText({ ...bad, branch: 'b/c@d' }), states: ['state'] }),
  ],
  compareTable: [rowsMax, () => studio.compareTable({ refs: [refText(bad), refText({ ...bad, branch: 'b/c@d' })] })],
  readTree: [rowsMax, () => studio.readTree(bad)],
  readExperiment: [rowsMax, () => studio.readExperiment(bad)],
  previewEdits: [
    rowsMax,
    () => studio.previewEdits({ ...bad, point: 'main@4', edits: JSON.stringify([{ kind: 'prompt', text: line }]) }),
  ],
  previewChange: [rowsMax, () => studio.previewChange({ ...bad, point: 'main@1', change: 'rewind' })],
  readStore: [rowsMax, () => studio.readStore({})],
  listAgents: [rowsMax, () => studio.listAgents({})],
  startRun: [
    2 * rowsMax,
    () => studio.startRun({ ...bad, point: 'main@1', order: JSON.stringify({ kind: 'fork', prompt: line }) }),
  ],
  stopRun: [
    2 * rowsMax,
    async () => {
      const [run = '{}'] = (await studio.listRuns({})).runs;
      return await studio.stopRun({ run: (JSON.parse(run) as StudioRun).id });
    },
  ],
  listRuns: [2 * rowsMax, () => studio.listRuns({})],
};

test.each(Object.entries(looks))('the answer of %s has a bound', async (name, [bytesMax, look]) => {
  const { output }: { readonly output: DescMessage } = StudioService.method[name as Unary];
  expect(sizeOf(output, await look())).toBeLessThan(bytesMax);
});

test('each message of an index has a bound, and its texts are cut', async () => {
  for await (const message of studio.readIndex(bad)) {
    expect(sizeOf(StudioService.method.readIndex.output, message)).toBeLessThan(limits.shownTextMax);
  }
});

test('recorded text arrives as it is, and its rest piece by piece', async () => {
  const [note] = (await studio.readEvents({ ...bad, seqs: [5n] })).events.map(
    ({ json }) => JSON.parse(json) as { readonly data: Record<string, unknown> },
  );
  expect(note?.data['text']).toBe(acts);
  expect(Object.keys(note?.data['keys'] as object)).toHaveLength(10_000);
  const { events } = await studio.readEvents({ session: 'huge', seqs: [1n] });
  expect(events[0]?.cuts).toMatchObject([{ path: '/data/text', length: BigInt(huge.length) }]);
  expect(JSON.parse(events[0]?.json ?? '')).toMatchObject({ data: { text: huge.slice(0, limits.shownTextMax) } });
  const offset = BigInt(huge.length - 3);
  const rest = await studio.readText({ session: 'huge', seq: 1n, path: '/data/text', offset });
  expect([rest.text, rest.length]).toEqual(['xxx', BigInt(huge.length)]);
});

test('a hit below a key as long as a payload names the value around it', async () => {
  const found: SearchHit[] = [];
  let cursor = '';
  do {
    const page = await studio.searchEvents({ ...bad, text: 'needle', cursor });
    found.push(...page.hits.map((hit) => JSON.parse(hit) as SearchHit));
    ({ cursor } = page);
  } while (cursor !== '');
  expect(found).toMatchObject([{ seq: 6, path: '/data/deep' }]);
});

test('60 lanes have each their own context, and 300 branches come in pages', async () => {
  const { answer } = await studio.readContext({ session: 'wide', point: 'main@38' });
  const { agent, messages } = JSON.parse(answer?.json ?? '') as ContextAnswer;
  expect([agent, messages.length]).toEqual(['agent 37', 1]);
  expect(messages[0]?.message).toMatchObject({ content: 'task of agent 37' });
  const names = new Set<string>();
  const pages: number[] = [];
  let cursor = '';
  do {
    const page = await studio.readTree({ session: 'wide', cursor });
    for (const row of page.branches) names.add((JSON.parse(row) as BranchRow).branch);
    pages.push(page.branches.length);
    ({ cursor } = page);
  } while (cursor !== '');
  expect([names.size, pages]).toEqual([branches, [limits.shownRowsMax, branches - limits.shownRowsMax]]);
});

test('a session that cannot be read has a row with its error, and the others are listed', async () => {
  const damaged = await reprise.createSession('damaged');
  await damaged.append({ type: 'note.added', data: { text: 'x' } });
  const read = store.read.bind(store);
  const spy = vi.spyOn(store, 'read').mockImplementation(async (ref, ...rest) => {
    if (ref.session === 'damaged') throw new RepriseError('store.damaged', 'Cannot read: a page is torn');
    return await read(ref, ...rest);
  });
  const { sessions } = await studio.readSessions({});
  spy.mockRestore();
  const rows = sessions.map((row) => JSON.parse(row) as SessionRow);
  expect(rows.map(({ session, error }) => [session, error?.code]).toSorted()).toEqual([
    [id, undefined],
    ['damaged', 'store.damaged'],
    ['huge', undefined],
    ['wide', undefined],
  ]);
});
