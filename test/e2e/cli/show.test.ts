/** `show`, `state` and `projections`: what an agent knew at a point. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Place, refundEvents, shapeOf } from './run.ts';

let place: Place;

const write = (agent: string, key: string, value: unknown, version: number) => ({
  agent,
  key,
  op: 'write',
  value,
  version,
});
const letter = `${'A very long letter.\n'.repeat(40)}The end.`;

beforeAll(async () => {
  place = new Place();
  await using reprise = await place.open();
  const session = await reprise.createSession('refund', { metadata: { owner: 'ada' } });
  const committed = (turn: number, ...operations: object[]) =>
    ({ type: 'state.committed', agent: 'support', run: 'run-1', turn, data: { operations } }) as never;
  // 1 is the metadata, 2…8 are the story.
  await session.append(refundEvents().slice(0, 4));
  await session.append(committed(1, write('support', 'plan', { next: 'refund', amount: 500 }, 1)));
  await session.append(
    refundEvents()
      .slice(4, 5)
      .map((event) => ({ ...event, turn: 2 })),
  );
  await session.append(committed(2, write('support', 'plan', { next: 'ask', amount: 500 }, 2), write('b', 'x', 1, 1)));
  await session.append({
    type: 'message.added',
    agent: 'support',
    run: 'run-1',
    data: { message: { role: 'user', content: letter } },
  });
  await session.append({
    type: 'call.started',
    agent: 'planner',
    run: 'run-2',
    data: {
      call: 'p1',
      kind: 'model',
      name: 'large-1',
      request: { messages: [{ role: 'user', content: 'Plan it.' }] },
    },
  });
});
afterAll(() => place[Symbol.dispose]());

async function show(...words: readonly string[]): Promise<string> {
  const { code, stdout } = await place.run(['show', ...words], { env: { COLUMNS: '100' } });
  expect(code).toBe(0);
  return stdout;
}

describe('show', () => {
  test('gives the messages with the events that made them, the settings, the state and what was spent', async () => {
    const text = await show('refund@8');
    expect(text).toMatch(/^session {5}refund {2}main@8 {2}Refund of order 7\n/);
    expect(text).toContain('\n@8 state.committed  support, run run-1, turn 2\n');
    expect(text).toMatch(/\n {4}@4 {4}system {4}You are a support agent\. Resolve refunds quickly\.\n/);
    expect(text).toMatch(/\n {4}@3 {4}user {6}Order 7 arrived broken\. Please refund it\.\n/);
    expect(text).toMatch(/\n {4}@5 {4}assistant → refund\(\{"amount":500,"order":7\}\)\n/);
    expect(text).toContain('\n  model     small-1\n');
    expect(text).toContain('\n  support plan = {"amount":500,"next":"ask"}  v2 @8\n');
    expect(text).toContain('\nUsage so far\n  812 tokens in, 33 out, $0.0021\n');
  });

  test('where a model is asked, it says what it saw', async () => {
    expect(await show('refund@8')).toContain('\nMessages the model would see\n');
    expect(await show('refund@4')).toContain('\nMessages the model saw\n');
  });

  test('gives the open calls, and what changed since the turn before', async () => {
    const text = await show('refund@8');
    expect(text).toContain('\nOpen calls\n  @7  tool refund  (c1)\n');
    const changed = text.slice(text.indexOf('Changed since turn 1'), text.indexOf('So far'));
    expect(changed).toContain('  ~ support.plan.next: refund → ask\n');
    expect(changed).toContain('  + b: {"x":1}\n');
    expect(await show('refund@5')).toContain('\nChanged since turn 0\n  + 3 messages\n');
  });

  test('says how to fork here, and how from before', async () => {
    const { stderr } = await place.run(['show', 'refund@8']);
    expect(stderr).toBe('next: reprise fork refund@8 --prompt "…"\n      reprise fork refund@before:8 --model "…"\n');
  });

  test('folds what is long with its size; --full shows all of it', async () => {
    const folded = await show('refund@9');
    expect(folded).toMatch(/… \d+ B more \(--full shows all\)\n/);
    expect(folded).not.toContain('The end.');
    expect(await show('refund@9', '--full')).toContain('The end.');
  });

  test('shows the conversation of the agent that acted, and names the others', async () => {
    const text = await show('refund@10');
    expect(text).toContain('Plan it.');
    expect(text).not.toContain('You are a support agent.');
    expect(text).toContain('\nOther conversations\n  support, run run-1: 4 messages, 1 open call\n');
  });

  test('the beginning is a point too', async () => {
    const text = await show('refund@0');
    expect(text).toContain('before the first event');
    expect(await place.json('show', 'refund@0')).toMatchObject({ event: null, messages: [], state: {}, calls: [] });
  });

  test('what is not there is told', async () => {
    const ran = await place.run(['show', 'refund@90']);
    expect([ran.code, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toContain('head is at 10');
  });

  test('--resume shows the input of a resumed agent and its pending calls, and runs nothing', async () => {
    const { code, stdout, stderr } = await place.run(['show', 'refund@7', '--resume'], { env: { COLUMNS: '120' } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/Pending calls, made first\n {2}refund .*\(c1, decided at @5\)/);
    expect(stderr).toContain('next: reprise fork refund@7');
    const handed = await place.json('show', 'refund@7', '--resume');
    expect(handed).toMatchObject({ ref: 'refund@7', agent: 'support', pending: [{ call: 'c1', name: 'refund' }] });
    expect(Object.keys(handed)).toEqual(
      expect.arrayContaining(['messages', 'prompt', 'pending', 'model', 'system', 'tools', 'settings', 'repairs']),
    );
    expect(await place.json('show', 'refund')).toMatchObject({ event: { seq: 10 } });
  });

  test('at a tool call it suggests the point before the model decided, and a fork says which call is pending', async () => {
    const { stderr } = await place.run(['show', 'refund@7']);
    expect(stderr).toContain('next: reprise fork refund@before:4 --prompt');
    const forked = await place.run(['fork', 'refund@7', '--name', 'decided']);
    expect(forked.stderr).toContain('Pending: refund');
    const told = await place.json('fork', 'refund@7', '--name', 'decided-too');
    expect(told).toMatchObject({ pending: [{ call: 'c1', name: 'refund', seq: 5 }] });
  });

  test('its JSON has everything, nothing folded', async () => {
    const whole = await place.json('show', 'refund@9');
    expect(Object.keys(whole).slice(0, 8)).toEqual([
      'ref',
      'event',
      'messages',
      'state',
      'beliefs',
      'agents',
      'calls',
      'waiting',
    ]);
    expect(JSON.stringify(whole['messages'])).toContain('The end.');
    expect(whole).toMatchObject({
      ref: 'refund@9',
      event: { seq: 9, type: 'message.added' },
      state: { support: { plan: { value: { next: 'ask', amount: 500 }, version: 2, seq: 8 } } },
      calls: [{ seq: 7, call: 'c1', kind: 'tool', name: 'refund' }],
      usage: { inputTokens: 812, outputTokens: 33, cost: 0.0021, unpricedCalls: 0 },
      metadata: { owner: 'ada' },
    });
    expect(shapeOf(whole)).toMatchSnapshot();
  });

  test.each([40, 80])('is never wider than a terminal of %i columns', async (columns) => {
    const { stdout } = await place.run(['show', 'refund@9'], { env: { COLUMNS: String(columns) } });
    expect(stdout.split('\n').filter((line) => line.length > columns)).toEqual([]);
  });
});

describe('fold', () => {
  test('prints what agents wrote, or what a projection gives, as JSON', async () => {
    const { stdout } = await place.run(['fold', 'refund@6']);
    expect(JSON.parse(stdout)).toEqual({
      support: { plan: { value: { next: 'refund', amount: 500 }, version: 1, seq: 6 } },
    });
    const { stdout: summary } = await place.run(['fold', 'refund@6', 'summary']);
    expect(JSON.parse(summary)).toMatchObject({ events: 6, title: 'Refund of order 7' });
    expect(await place.json('fold', 'refund@6', 'metadata')).toEqual({
      ref: 'refund@6',
      projection: 'metadata',
      version: '1',
      value: { owner: 'ada' },
    });
  });

  test('a projection that there is not is answered with the nearest', async () => {
    const { code, stderr } = await place.run(['fold', 'refund', 'sumary']);
    expect(code).toBe(2);
    expect(stderr).toContain('Did you mean "summary"?');
  });
});

test('projections names every one, as text and as JSON, and each can be asked for', async () => {
  const { stdout } = await place.run(['projections', '--json']);
  const listed = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; version: string; history: string; about: string });
  expect(listed.map(({ name }) => name)).toEqual([
    'conversation',
    'runs',
    'state',
    'coding',
    'graph',
    'summary',
    'waiting',
    'simulated',
    'metadata',
    'fingerprint',
  ]);
  expect((await place.run(['projections'])).stdout).toContain(
    'the state agents wrote, by agent and key, with versions',
  );
  for (const { name, version } of listed)
    expect(await place.json('fold', 'refund', name)).toMatchObject({ projection: name, version });
});
