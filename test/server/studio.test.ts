import { get } from 'node:http';
import { createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { given } from '../../src/core/json.ts';
import { limits } from '../../src/core/limits.ts';
import { rowsOf } from '../../src/core/session/event-columns.ts';
import { openReprise, type Reprise } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { CompareAnswer } from '../../src/reading/looks/compared-views.ts';
import type { StudioRun } from '../../src/reading/looks/run-orders.ts';
import type { ValueChange } from '../../src/reading/looks/value-changes.ts';
import { serveWith } from '../../src/serve-store.ts';
import { RunBook } from '../../src/server/studio/run-book.ts';
import { makeToken, type Right, type Server, serve } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { ErrorSchema } from '../../src/wire/generated/reprise/v1/server_pb.ts';
import { SessionService } from '../../src/wire/generated/reprise/v1/session_pb.ts';
import { StudioService } from '../../src/wire/generated/reprise/v1/studio_pb.ts';
import { columnsFromWire } from '../../src/wire/index-codec.ts';
import { storyEvents } from '../contract/studio-story.ts';

const platform = createNodePlatform();
const store = openMemoryStore({ platform });
const tokens: Partial<Record<'run' | 'read' | 'elsewhere' | 'own', string>> = {};
let server: Server;
let reprise: Reprise;

async function token(rights: readonly Right[], namespaces?: readonly string[]): Promise<string> {
  const made = makeToken({ rights, ...(namespaces === undefined ? {} : { namespaces }) }, platform);
  await store.tokens.add(made.record);
  return made.token;
}

const sessionsOf = async (asked: Reprise): Promise<number> => (await Array.fromAsync(asked.sessions())).length;

beforeAll(async () => {
  tokens.run = await token(['read', 'append', 'run']);
  tokens.read = await token(['read']);
  tokens.elsewhere = await token(['read', 'run'], ['elsewhere']);
  const own = makeToken({ rights: ['read'] }, platform);
  tokens.own = own.token;
  const examine = async (asked: Reprise) => ({
    location: '/srv/agents.db',
    freeBytes: 7,
    sessions: await sessionsOf(asked),
    namespace: asked.currentNamespace,
  });
  server = await serveWith(
    {
      store,
      port: 0,
      agents: {
        agents: {
          echo: async ({ prompt }) => `You said ${String(prompt?.content)}`,
          broken: async ({ prompt }) => {
            throw new Error(`It fell apart: ${String(prompt?.content)}`);
          },
          spender: async ({ recorder, prompt }) =>
            await recorder.call(
              { kind: 'tool', name: 'spend', effect: 'irreversible', input: { note: String(prompt?.content) } },
              async () => 'spent',
            ),
          payer: async ({ recorder }) =>
            await recorder.call(
              { kind: 'tool', name: 'pay', effect: 'irreversible', input: { amount: 5 } },
              async () => 'paid',
            ),
          again: async ({ recorder }) => {
            const start = { kind: 'tool', name: 'lookup', effect: 'irreversible', input: { order: 7 } } as const;
            return JSON.stringify(await recorder.call(start, async () => 'made'));
          },
          writer: async ({ recorder }) => {
            const call = await recorder.startCall({ kind: 'model', name: 'large-1', request: { messages: [] } });
            for (const piece of ['Hel', 'lo.']) call.text(piece);
            call.end({ message: { role: 'assistant', content: 'Hello.' } });
            return 'Hello.';
          },
          slow: async ({ signal }) =>
            await new Promise((_, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason));
            }),
          asking: async ({ recorder, answers }) => {
            const [answer] = answers ?? [];
            if (answer !== undefined) return `Answered ${JSON.stringify(answer.output)}`;
            return await recorder.ask({ name: 'question', input: 'Which color?' });
          },
          curious: async ({ recorder }) => {
            const color = await recorder.ask({ name: 'question', input: 'Which color?' });
            const size = await recorder.ask({ name: 'question', input: 'Which size?' });
            return color === undefined || size === undefined ? '' : `${String(color)}, ${String(size)}`;
          },
          careful: async ({ recorder, pending }) => {
            const [{ call, name, input } = { call: '', name: '', input: null }] = pending;
            const said = await recorder.ask({ name: 'approval', about: call, input: { call, name, input } });
            return said === undefined ? '' : JSON.stringify(said);
          },
        },
        simulate: { pay: () => 'simulated' },
      },
    },
    { tokens: [own.record], examine },
  );

  reprise = await openReprise({ store, config: false });
  const demo = await reprise.createSession('demo');
  await demo.append(storyEvents);
});
afterAll(async () => {
  await server.close();
});

function clientOf(held = tokens.run, baseUrl = server.url) {
  const authorized: Interceptor = (next) => (request) => {
    request.header.set('authorization', `Bearer ${held}`);
    return next(request);
  };
  const transport = createConnectTransport({ baseUrl, httpVersion: '1.1', interceptors: [authorized] });
  return { studio: createClient(StudioService, transport), sessions: createClient(SessionService, transport) };
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const [detail] =
    (error as { findDetails?: (desc: typeof ErrorSchema) => { code: string }[] })?.findDetails?.(ErrorSchema) ?? [];
  return detail?.code ?? String(error);
}

const demo = { session: 'demo' };

async function started(order: object, point = 'main@2'): Promise<StudioRun> {
  const { run } = await clientOf().studio.startRun({ ...demo, point, order: JSON.stringify(order) });
  return JSON.parse(run) as StudioRun;
}

/** Waits until a run has ended or asks something, by the stream of what is live. */
async function until(id: string, holds: (run: StudioRun) => boolean): Promise<StudioRun> {
  const stop = new AbortController();
  const runs = { kind: { case: 'runs', value: {} } } as const;
  try {
    for await (const { item } of clientOf().studio.follow({ subscriptions: [runs] }, { signal: stop.signal })) {
      if (item.case !== 'run') continue;
      const run = JSON.parse(item.value.run) as StudioRun;
      if (run.id === id && holds(run)) return run;
    }
  } finally {
    stop.abort();
  }
  throw new Error('The stream ended');
}

const ended = ({ endedAt }: StudioRun): boolean => endedAt !== null;

test('the index, events, context and values travel as they were read', async () => {
  const { studio } = clientOf(tokens.read);
  const parts = [];
  for await (const { part } of studio.readIndex({ ...demo, around: 3n })) parts.push(part);
  expect(parts.map((part) => part.case)).toEqual(['range', 'chunk', 'view']);
  const [, chunk] = parts;
  const rows = chunk?.case === 'chunk' ? rowsOf(columnsFromWire(chunk.value)) : undefined;
  expect(rows?.count).toBeGreaterThanOrEqual(10);
  const { events } = await studio.readEvents({ ...demo, seqs: [3n, 2n] });
  expect(events.map(({ json }) => JSON.parse(json).seq)).toEqual([3, 2]);
  expect((await studio.readGists({ ...demo, seqs: [2n] })).gists[0]).toContain('Order 7 broke.');
  const { answer } = await studio.readContext({ ...demo, point: 'main@8' });
  expect(JSON.parse(answer?.json ?? '')).toMatchObject({ counts: { new: 2 }, against: { ref: 'demo@3' } });
  const { sections } = await studio.readKnown({ ...demo, point: 'main@8', projections: ['state'] });
  expect(JSON.parse(sections[0]?.json ?? '')).toMatchObject({ projection: 'state' });
  const { changes } = await studio.readChanges({ ...demo, projection: 'state', path: '/support/amount' });
  expect(changes.map((change) => (JSON.parse(change) as ValueChange).seq)).toEqual([7]);
  const text = await studio.readText({ ...demo, seq: 2n, path: '/data/message/content', offset: 6n, length: 1n });
  expect([text.text, text.length]).toEqual(['7', 14n]);
  expect(JSON.parse((await studio.readCauses({ ...demo, point: 'main@5' })).answer).causes).toHaveLength(3);
  const { hits, cursor } = await studio.searchEvents({ ...demo, text: 'paid' });
  // A page may end before it has found anything, if the machine is busy.
  expect(hits.length > 0 || cursor !== '').toBe(true);
  expect((await studio.readSessions({})).sessions).toHaveLength(1);
  expect((await studio.readTree(demo)).branches.length).toBeGreaterThan(0);
  expect((await studio.readExperiment(demo)).experiments).toEqual([]);
  expect((await studio.compareTable({ refs: ['demo@8', 'demo'] })).rows).toHaveLength(2);
  const compared = await studio.compareViews({ left: 'demo@8', right: 'demo' });
  expect((JSON.parse(compared.answer) as CompareAnswer).identical).toBe(false);
  const preview = await studio.previewEdits({ ...demo, point: 'main@9', edits: '[{"kind":"drop","seq":5}]' });
  expect(JSON.parse(preview.answer).counts).toEqual({ gone: 2, dependents: 1 });
  const change = await studio.previewChange({ ...demo, point: 'main@7', change: 'rewind' });
  expect(JSON.parse(change.answer).counts.gone).toBe(3);
});

test.each([
  ['an unknown projection', (s: StudioClient) => s.readKnown({ ...demo, projections: ['stat'] }), 'projection.invalid'],
  ['edits that are no list', (s: StudioClient) => s.readContext({ ...demo, edits: '{}' }), 'option.invalid'],
  ['a cursor of its own making', (s: StudioClient) => s.searchEvents({ ...demo, cursor: 'x' }), 'option.invalid'],
  ['too many events', (s: StudioClient) => s.readEvents({ ...demo, seqs: Array(201).fill(1n) }), 'limit.exceeded'],
  ['an unknown change', (s: StudioClient) => s.previewChange({ ...demo, change: 'undo' }), 'option.invalid'],
  [
    'a point that is not there',
    (s: StudioClient) => s.readCauses({ ...demo, point: 'main@999' }),
    'point.out-of-range',
  ],
  ['a run that nobody started', (s: StudioClient) => s.stopRun({ run: 'nothing' }), 'run.not-kept'],
  ['an order without a kind', (s: StudioClient) => s.startRun({ ...demo, order: '{}' }), 'option.invalid'],
  [
    'an agent the config lacks',
    (s: StudioClient) => s.startRun({ ...demo, order: '{"kind":"fork","agent":"nobody"}' }),
    'agent.not-found',
  ],
  [
    'a field of a different kind',
    (s: StudioClient) => s.startRun({ ...demo, order: '{"kind":"resume","variants":[]}' }),
    'option.invalid',
  ],
])('%s is refused with a code', async (_, call, code) => {
  expect(await codeOf(call(clientOf().studio))).toBe(code);
});

type StudioClient = ReturnType<typeof clientOf>['studio'];

test('a fork runs on an agent of the configuration, and its end is told', async () => {
  const edits = [{ kind: 'prompt', text: 'Order 8 broke.' }];
  const run = await started({ kind: 'fork', agent: 'echo', name: 'eight', reason: 'try', edits });
  expect(run).toMatchObject({ kind: 'fork', agent: 'echo', branch: 'eight', from: 'demo@2' });
  const end = await until(run.id, ended);
  expect(end).toMatchObject({ outcome: 'ok', error: null, result: { text: 'You said Order 8 broke.' } });
  const { runs } = await clientOf(tokens.read).studio.listRuns({});
  expect(runs.map((text) => (JSON.parse(text) as StudioRun).id)).toContain(run.id);
});

test('the same start twice is one run', async () => {
  const order = JSON.stringify({ kind: 'fork', agent: 'echo' });
  const start = { ...demo, point: 'main@2', order, requestId: 'once' };
  const [a, b] = await Promise.all([clientOf().studio.startRun(start), clientOf().studio.startRun(start)]);
  expect(JSON.parse(a.run).id).toBe(JSON.parse(b.run).id);
});

test('a run that fails ends with its error', async () => {
  const end = await until((await started({ kind: 'fork', agent: 'broken' })).id, ended);
  expect(end).toMatchObject({ outcome: 'error', error: { code: 'agent.failed' } });
});

test.each([
  [{ kind: 'effect', answer: 'run' }, 'paid'],
  [{ kind: 'simulate' }, 'simulated'],
  [{ kind: 'simulate', output: 'told' }, 'told'],
  [{ kind: 'simulate', output: null }, ''],
])('a question is answered once, from any page: %j', async (answer, text) => {
  const run = await started({ kind: 'fork', agent: 'payer' });
  const { questions } = await until(run.id, (now) => now.questions.length > 0);
  expect(questions[0]).toMatchObject({ kind: 'effect', canSimulate: true, question: { name: 'pay' }, answer: null });
  const asked = { run: run.id, question: questions[0]?.id ?? '', answer: JSON.stringify(answer) };
  const answers = await Promise.all([clientOf().studio.answerQuestion(asked), clientOf().studio.answerQuestion(asked)]);
  expect(answers.map(({ accepted }) => accepted).sort()).toEqual([false, true]);
  expect(await until(run.id, ended)).toMatchObject({ outcome: 'ok', result: { text } });
  expect(await codeOf(clientOf().studio.answerQuestion({ ...asked, question: 'q9' }))).toBe('question.not-found');
});

test('runs are shown masked as they are recorded, and without words once something was erased', async () => {
  const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
  const session = await reprise.createSession('hushed');
  const messages = [`Hello ${secret}`, 'I live at 12 Harbour Street.'];
  await session.append(
    messages.map((content) => ({
      type: 'message.added',
      agent: 'support',
      data: { message: { role: 'user', content } },
    })),
  );
  const start = async (agent: string, point = 'main@2'): Promise<StudioRun> => {
    const order = JSON.stringify({ kind: 'fork', agent, edits: [{ kind: 'prompt', text: `Use ${secret}` }] });
    const { run } = await clientOf().studio.startRun({ session: 'hushed', point, order, requestId: `h-${agent}` });
    return JSON.parse(run) as StudioRun;
  };
  const texts = async (): Promise<string[]> =>
    (await clientOf(tokens.read).studio.listRuns({})).runs.filter((text) => text.includes('"session":"hushed"'));
  const [echo, spender, broken] = [await start('echo'), await start('spender'), await start('broken')];
  for (const { id } of [echo, broken]) await until(id, ended);
  await until(spender.id, ({ questions }) => questions.length > 0);
  expect((await texts()).join('\n')).not.toContain(secret);
  expect((await texts()).filter((text) => text.includes('[masked github-token'))).toHaveLength(3);
  await clientOf().studio.answerQuestion({
    run: spender.id,
    question: 'q1',
    answer: JSON.stringify({ kind: 'simulate', output: `told ${secret}` }),
  });
  await until(spender.id, ended);
  expect((await texts()).join('\n')).not.toContain(secret);
  await session.erase('main@2');
  expect((await texts()).filter((text) => text.includes('[masked'))).toEqual([]);
  expect((await texts()).filter((text) => text.includes('{"erased":true}'))).toHaveLength(1);
  expect((await start('echo')).result).toBeNull();
  await session.delete({ confirm: 'hushed' });
  expect(await texts()).toEqual([]);
});

test('the next page of a comparison does not hold what was erased since the first', async () => {
  for (const id of ['left', 'right']) {
    const session = await reprise.createSession(id);
    const text = (at: number): string => (at === 205 ? `${id} of 12 Harbour Street` : `${id} ${at}`);
    await session.append(Array.from({ length: 210 }, (_, at) => ({ type: 'note.added', data: { text: text(at) } })));
  }
  const { studio } = clientOf(tokens.read);
  const { cursor } = await studio.compareViews({ left: 'left', right: 'right' });
  await (await reprise.session('left')).erase('main@206');
  const { pairs } = await studio.compareViews({ left: 'left', right: 'right', cursor });
  expect(pairs.join('\n')).toContain('right of 12 Harbour');
  expect(pairs.join('\n')).not.toContain('left of 12 Harbour');
});

test.each([
  ['reuse', { outcome: 'ok', result: { text: '{"paid":50}' } }],
  ['run', { outcome: 'ok', result: { text: '"made"' } }],
  ['refuse', { outcome: 'error', error: { code: 'effect.refused' } }],
])('a call that the original made later is asked about, and the answer is %s', async (answer, end) => {
  const run = await started({ kind: 'fork', agent: 'again' });
  const { questions } = await until(run.id, (now) => now.questions.length > 0);
  expect(questions[0]).toMatchObject({ question: { name: 'lookup', outcome: 'ok' } });
  const said = JSON.stringify({ kind: 'effect', answer });
  await clientOf().studio.answerQuestion({ run: run.id, question: 'q1', answer: said });
  expect(await until(run.id, ended)).toMatchObject(end);
});

test('a question of a person is answered, and the run goes on from there', async () => {
  const run = await started({ kind: 'fork', agent: 'asking' });
  const waits = await until(run.id, ({ questions }) => questions.length > 0);
  expect(waits).toMatchObject({
    outcome: 'waiting',
    questions: [{ kind: 'person', question: { input: 'Which color?' } }],
  });
  const asked = { run: run.id, question: 'q1', answer: JSON.stringify({ kind: 'answer', output: 'blue' }) };
  for (const wrong of [{ kind: 'answer' }, { kind: 'answer', outputs: 'blue' }, { kind: 'deny', reason: 1 }])
    expect(await codeOf(clientOf().studio.answerQuestion({ ...asked, answer: JSON.stringify(wrong) }))).toBe(
      'option.invalid',
    );
  expect((await clientOf().studio.answerQuestion(asked)).accepted).toBe(true);
  expect((await clientOf().studio.answerQuestion(asked)).accepted).toBe(false);
  const next = goneOn(await clientOf().studio.listRuns({}), waits);
  expect(await until(next?.id ?? '', ended)).toMatchObject({ outcome: 'ok', result: { text: 'Answered "blue"' } });
});

test('a run that waits for two people goes on when both have answered, and never with half', async () => {
  const run = await started({ kind: 'fork', agent: 'curious' });
  const waits = await until(run.id, ({ questions }) => questions.length === 2);
  const inputs = new Map(waits.questions.map(({ id, question }) => [JSON.stringify(question.input), id]));
  const say = async (asked: string, output?: string) => {
    const answer = JSON.stringify(output === undefined ? { kind: 'approve' } : { kind: 'answer', output });
    return await clientOf().studio.answerQuestion({ run: run.id, question: inputs.get(`"${asked}"`) ?? '', answer });
  };
  // With a decision that a question does not take, both are asked again.
  expect((await say('Which size?')).accepted).toBe(true);
  expect(await codeOf(say('Which color?', 'red'))).toBe('resume.invalid');
  expect((await say('Which size?', 'small')).accepted).toBe(true);
  expect(goneOn(await clientOf().studio.listRuns({}), waits)).toBeUndefined();
  expect((await say('Which color?', 'blue')).accepted).toBe(true);
  const next = goneOn(await clientOf().studio.listRuns({}), waits);
  expect(await until(next?.id ?? '', ended)).toMatchObject({ outcome: 'ok', result: { text: 'blue, small' } });
});

test.each([
  [{ kind: 'approve' }, '{"approved":true}'],
  [{ kind: 'deny', reason: 'Too late' }, '{"approved":false,"reason":"Too late"}'],
])('a person decides about a call that waits for an approval: %j', async (answer, text) => {
  const run = await started({ kind: 'fork', agent: 'careful' }, 'main@4');
  const waits = await until(run.id, ({ questions }) => questions.length > 0);
  expect(waits.questions).toMatchObject([{ kind: 'person', question: { name: 'approval', about: 't1' } }]);
  const asked = { run: run.id, question: 'q1' };
  const wrong = JSON.stringify({ kind: 'answer', output: 'yes' });
  // An answer that cannot be used leaves the question open.
  expect(await codeOf(clientOf().studio.answerQuestion({ ...asked, answer: wrong }))).toBe('resume.invalid');
  expect((await clientOf().studio.answerQuestion({ ...asked, answer: JSON.stringify(answer) })).accepted).toBe(true);
  const next = goneOn(await clientOf().studio.listRuns({}), waits);
  expect(await until(next?.id ?? '', ended)).toMatchObject({ outcome: 'ok', result: { text } });
});

/** Finds the run that goes on where a run waits. */
function goneOn({ runs }: { readonly runs: readonly string[] }, { branch }: StudioRun): StudioRun | undefined {
  return runs
    .map((text) => JSON.parse(text) as StudioRun)
    .find((run) => run.kind === 'resume' && run.branch === branch);
}

test('a stream takes at most "subscriptionsMax", and of ended runs "runsEndedMax" are listed', async () => {
  const runs = { kind: { case: 'runs', value: {} } } as const;
  const subscriptions = Array.from({ length: limits.subscriptionsMax + 1 }, () => runs);
  const stream = clientOf().studio.follow({ subscriptions })[Symbol.asyncIterator]();
  expect(await codeOf(stream.next())).toBe('limit.exceeded');
  const agents = { config: { agents: { echo: async (_context: unknown) => 'ok' } }, file: 'reprise.config.ts' };
  const memory = openMemoryStore({ platform });
  const own = await openReprise({ store: memory, config: false });
  const session = await own.createSession('demo');
  await session.append(storyEvents.slice(0, 2));
  const book = new RunBook({ reprise: own, store: memory, platform, agents });
  for (let count = 0; count < limits.runsEndedMax + 2; count++) {
    const id = await book.start({ kind: 'fork' }, { namespace: 'default', session: 'demo', point: 'main@2' });
    await book.stop(id);
  }
  expect((await book.list()).length).toBeLessThanOrEqual(limits.runsEndedMax + 1);
  await book.close();
  await own.close();
});

test('text is shown while it is written, and is stored once, with the end of its call', async () => {
  const stop = new AbortController();
  const runs = { kind: { case: 'runs', value: {} } } as const;
  const stream = clientOf(tokens.read).studio.follow({ subscriptions: [runs] }, { signal: stop.signal });
  let said = '';
  let run: StudioRun | undefined;
  for await (const { item } of stream) {
    run ??= await started({ kind: 'fork', agent: 'writer', name: 'written' });
    if (item.case === 'text' && item.value.run === run.id) said += item.value.text;
    if (item.case === 'run' && ended(JSON.parse(item.value.run) as StudioRun) && said === 'Hello.') break;
  }
  stop.abort();
  expect(said).toBe('Hello.');
  const session = await reprise.session('demo');
  let stored = 0;
  for await (const { data } of session
    .at('written')
    .replay({ filter: { types: ['call.ended'], kind: 'model' }, after: 2 }))
    if (JSON.stringify(data).includes('Hello.')) stored++;
  expect(stored).toBe(1);
});

test('a run is stopped, and a branch has one run at a time', async () => {
  const run = await started({ kind: 'fork', agent: 'slow', name: 'slow' });
  expect(await codeOf(started({ kind: 'resume', agent: 'echo', prompt: 'x' }, 'slow'))).toBe('run.open');
  const stopped = JSON.parse((await clientOf().studio.stopRun({ run: run.id })).run) as StudioRun;
  expect(stopped).toMatchObject({ outcome: 'aborted' });
  const summary = await (await reprise.session('demo')).at('slow').fingerprint();
  expect(summary).not.toBe('');
});

test('an experiment runs its variants and is found again', async () => {
  const variants = [{ name: 'as-is' }, { name: 'eight', prompt: 'Order 8 broke.' }];
  const run = await started({ kind: 'experiment', agent: 'echo', variants, repeats: 1, expects: 'Order 8' });
  const end = await until(run.id, ended);
  expect(end.experiment).toMatchObject({ total: 2 });
  const id = end.experiment?.id ?? '';
  const { answer } = await clientOf(tokens.read).studio.readExperiment({ experiment: id });
  expect(JSON.parse(answer).branches.map(({ passed }: { passed: boolean }) => passed)).toEqual([false, true]);
  expect((await clientOf(tokens.read).studio.readExperiment(demo)).experiments).toEqual([id]);
});

test('a token starts only what its rights and namespaces allow', async () => {
  const order = JSON.stringify({ kind: 'fork', agent: 'echo' });
  expect(await codeOf(clientOf(tokens.read).studio.startRun({ ...demo, order }))).toBe('store.denied');
  expect(await codeOf(clientOf(tokens.elsewhere).studio.startRun({ ...demo, order }))).toBe('store.denied');
  expect((await clientOf(tokens.elsewhere).studio.listRuns({})).runs).toEqual([]);
  // Edits are history: with the right to run alone, nobody writes what others said.
  const edits = [{ kind: 'append', event: { type: 'note.added', agent: 'boss', data: { text: 'Approved' } } }];
  const elsewhere = { session: 'demo', namespace: 'elsewhere' };
  const start = async (asked: object): Promise<string> =>
    await codeOf(
      clientOf(tokens.elsewhere).studio.startRun({
        ...elsewhere,
        order: JSON.stringify({ agent: 'echo', ...asked }),
      }),
    );
  expect(await start({ kind: 'fork', edits })).toBe('store.denied');
  expect(await start({ kind: 'experiment', variants: [{ name: 'as-is' }, { name: 'b', edits }] })).toBe('store.denied');
  expect(await start({ kind: 'fork' })).toBe('session.not-found');
  const { canRun, reason, agents } = await clientOf(tokens.read).studio.listAgents({});
  expect([canRun, agents]).toEqual([false, []]);
  expect(reason).toContain('run');
  const own = await clientOf().studio.listAgents({});
  expect(own.agents.map((text) => JSON.parse(text).name)).toEqual([
    'echo',
    'broken',
    'spender',
    'payer',
    'again',
    'writer',
    'slow',
    'asking',
    'curious',
    'careful',
  ]);
});

test('a stream tells of every session that changes, whatever the times of its events are', async () => {
  const append = async (id: string, time?: string): Promise<void> => {
    const session = await reprise.session(id, { create: true });
    await session.append({ type: 'note.added', data: { text: id }, ...given({ time }) });
  };
  await append('ahead', '2999-01-01T00:00:00.000Z');
  const stop = new AbortController();
  const sessions = { kind: { case: 'sessions', value: {} } } as const;
  const seen = new Set<string>();
  const following = (async () => {
    const stream = clientOf(tokens.read).studio.follow({ subscriptions: [sessions] }, { signal: stop.signal });
    for await (const { item } of stream)
      if (item.case === 'session') seen.add((JSON.parse(item.value.row) as { session: string }).session);
  })();
  // The first changes may come before the stream knows what is there.
  while (!seen.has('fresh')) {
    await append('fresh');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  // Of changes at the same time, the last one hides none.
  await append('imported', '2020-01-01T00:00:00.000Z');
  await append('ahead');
  await append('fresh');
  await expect.poll(() => [...seen].sort()).toEqual(['ahead', 'fresh', 'imported']);
  stop.abort();
  await following.catch(() => undefined);
});

test('one stream tells of new events, of markers and of sessions', async () => {
  const session = await reprise.createSession('live');
  await session.append({ type: 'note.added', data: { text: 'a' } });
  const stop = new AbortController();
  const stream = clientOf(tokens.read).studio.follow(
    {
      subscriptions: [
        { kind: { case: 'branch', value: { session: 'live', after: 0n } } },
        { kind: { case: 'branch', value: { session: 'nowhere' } } },
      ],
    },
    { signal: stop.signal },
  );
  const seen: string[] = [];
  for await (const { item } of stream) {
    if (item.case === 'branch') {
      const { head, view } = item.value;
      seen.push(`${head}${view === undefined ? '' : ` view of ${view.pieces.length}`}`);
      if (head === 1n) await session.append({ type: 'note.added', data: { text: 'b' } });
      if (head === 2n) await session.rewind(1);
      if (head === 3n && seen.includes('session.not-found')) break;
    }
    if (item.case === 'end') {
      seen.push(JSON.parse(item.value.error).code);
      if (seen.includes('3 view of 1')) break;
    }
  }
  stop.abort();
  expect(seen.toSorted()).toEqual(['1', '2', '3 view of 1', 'session.not-found']);
});

test('pages come under a policy that runs nothing of others, and other sites are refused', async () => {
  const { headers } = await fetch(`${server.url}/`);
  expect(headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ]);
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect([headers.get('set-cookie'), headers.get('access-control-allow-origin')]).toEqual([null, null]);
  const foreign = await fetch(`${server.url}/`, { headers: { origin: 'https://evil.example' } });
  expect(foreign.status).toBe(403);
  const call = await fetch(`${server.url}/reprise.v1.StudioService/ListRuns`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(call.status).toBe(401);
  expect((await fetch(`${server.url}/..%2f..%2fpackage.json`)).status).toBe(401);
});

test.each([
  ['a different site', { origin: 'https://evil.example' }],
  ['a frame without an origin', { origin: 'null' }],
  ['a name that leads here', { host: 'evil.example' }],
])('pages and calls are refused to %s, also with the token', async (_, headers) => {
  const asked = { headers: { authorization: `Bearer ${tokens.run}`, ...headers } };
  for (const path of ['/', '/s/demo/main@3', '/reprise.v1.StudioService/ListRuns']) {
    const status = await new Promise((resolve, reject) => {
      get(`${server.url}${path}`, asked, (response) => resolve(response.resume().statusCode)).on('error', reject);
    });
    expect(status).toBe(403);
  }
});

test('a stream that always has news ends with its token', async () => {
  let elapsed = 0;
  const own = await serve({ store, port: 0, platform: { ...platform, elapsedMs: () => elapsed } });
  const made = makeToken({ rights: ['read'] }, platform);
  await store.tokens.add(made.record);
  const session = await reprise.createSession('watched');
  const add = async () => await session.append({ type: 'note.added', data: { text: 'x' } });
  await add();
  const { studio } = clientOf(made.token, own.url);
  const watched = { kind: { case: 'branch', value: { session: 'watched' } } } as const;
  let heads = 0;
  const reading = (async () => {
    for await (const { item } of studio.follow({ subscriptions: [watched] })) {
      if (item.case !== 'branch') continue;
      heads = Number(item.value.head);
      if (heads === 2) {
        await store.tokens.revoke(made.record.id, platform.now());
        elapsed += 5_000;
      }
      await add();
    }
  })();
  expect(await codeOf(reading)).toBe('token.invalid');
  expect(heads).toBe(2);
  expect(await codeOf(studio.readSessions({}))).toBe('token.invalid');
  await own.close();
});

test('a server that is gone and back goes on after the last seq, and nothing comes twice', async () => {
  const session = await reprise.createSession('lasting');
  const add = async () => await session.append({ type: 'note.added', data: { text: 'x' } });
  const digestAt = async (seq: number) => (await session.at({ seq }).locate()).digest;
  await add();
  const first = await serve({ store, port: 0 });
  const read = async (after: number, through: number): Promise<readonly unknown[]> => {
    const stop = new AbortController();
    const seen: unknown[] = [];
    const value = { session: 'lasting', after: BigInt(after) };
    const stream = clientOf(tokens.read, first.url).studio.follow(
      { subscriptions: [{ kind: { case: 'branch', value } }] },
      { signal: stop.signal },
    );
    for await (const { item } of stream) {
      if (item.case !== 'branch') continue;
      const rows = item.value.chunk === undefined ? undefined : rowsOf(columnsFromWire(item.value.chunk));
      seen.push([rows?.first, rows?.count, item.value.digest]);
      if (Number(item.value.head) >= through) break;
    }
    stop.abort();
    return seen;
  };
  expect(await read(0, 1)).toEqual([[1, 1, await digestAt(1)]]);
  await first.close();
  await add();
  const again = await serve({ store, port: Number(new URL(first.url).port) });
  expect(await read(1, 2)).toEqual([[2, 1, await digestAt(2)]]);
  await again.close();
});

test('a token that is bound to an agent gets nothing of the studio, and one of a namespace nothing of the others', async () => {
  const made = makeToken({ rights: ['read', 'run'], agent: 'support' }, platform);
  await store.tokens.add(made.record);
  const { studio } = clientOf(made.token);
  const order = JSON.stringify({ kind: 'fork', agent: 'echo' });
  const calls = [
    studio.readSessions({}),
    studio.readContext(demo),
    studio.listAgents({}),
    studio.listRuns({}),
    studio.readStore({}),
    studio.startRun({ ...demo, order }),
    studio.exportPage({ ref: 'demo', preview: true })[Symbol.asyncIterator]().next(),
    studio.follow({})[Symbol.asyncIterator]().next(),
  ];
  for (const call of calls) expect(await codeOf(call)).toBe('store.denied');
  expect(await codeOf(clientOf(tokens.elsewhere).studio.readStore({}))).toBe('store.denied');
  const read = async (held: string | undefined, namespace = '') =>
    JSON.parse((await clientOf(held).studio.readStore({ namespace })).answer) as object;
  const elsewhere = { location: '', freeBytes: null, sessions: 0, namespace: 'elsewhere' };
  expect(await read(tokens.elsewhere, 'elsewhere')).toEqual(elsewhere);
  expect(await read(tokens.read)).toMatchObject({ location: '', freeBytes: null, namespace: 'default' });
  expect(await read(tokens.own)).toMatchObject({ location: '/srv/agents.db', freeBytes: 7, namespace: 'default' });
});

test('runs are bounded, and stop with the server as aborted', async () => {
  const own = await serve({
    store,
    port: 0,
    agents: {
      agents: {
        // It does not listen when it should stop.
        deaf: async (_context) => await new Promise(() => undefined),
      },
    },
  });
  const { studio } = clientOf(tokens.run, own.url);
  const order = JSON.stringify({ kind: 'fork', agent: 'deaf' });
  const branches: string[] = [];
  // At most "runsOpenMax".
  for (let count = 0; count < limits.runsOpenMax; count++)
    branches.push(JSON.parse((await studio.startRun({ ...demo, point: 'main@2', order })).run).branch);
  expect(await codeOf(studio.startRun({ ...demo, point: 'main@2', order }))).toBe('limit.exceeded');
  await own.close();
  const session = await reprise.session('demo');
  for (const branch of branches) {
    const end = await (await session.branch(branch).findLast({ types: ['run.ended'] }))?.locate();
    expect(end).toBeDefined();
    for await (const event of session.branch(branch).replay({ after: (end?.seq ?? 1) - 1 }))
      expect(event.data['outcome']).toBe('aborted');
  }
});
