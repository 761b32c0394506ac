/** A session goes back to the tool it came from: forked at any message, edited, and in the form the tool resumes from. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  conversation,
  type EventDraft,
  type JsonObject,
  openReprise,
  type Reprise,
  type Session,
} from '../../src/index.ts';
import { claudeFork, claudeWork, pieces, sources } from './sources.ts';

let reprise: Reprise;
beforeAll(async () => {
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterAll(() => reprise.close());

async function saidIn(session: Session, at: string): Promise<unknown[]> {
  const { messages } = await session.at(at).fold(conversation);
  return messages.map(({ message }) => {
    const { role, content } = message ?? {};
    return [role, typeof content === 'string' ? [{ type: 'text', text: content }] : content];
  });
}

describe.each([
  ['claude-code', 'a fork', claudeFork],
  ['claude-code', 'work', claudeWork],
  ['codex', 'a rollout', sources['codex']?.[0]?.text ?? ''],
  ['pi', 'a tree', sources['pi']?.[0]?.text ?? ''],
] as const)('%s: %s', (format, name, text) => {
  test('forked at any message and edited, it is resumed with the conversation of its branch', async () => {
    const session = await reprise.import(pieces(text), { format, session: `${format} ${name}` });
    const seqs: number[] = [];
    // A fork at the end of a call may be inside a line, which also says how a file changed.
    for await (const { seq } of session.replay({ filter: { types: ['message.added', 'call.ended'] } })) seqs.push(seq);
    expect(seqs.length).toBeGreaterThan(1);
    let edits = 0;
    for (const seq of seqs) {
      const name_ = `at-${seq}`;
      const branch = await session.fork(`main@${seq}`, { name: name_, prompt: 'Ask it once more.' }).then(
        () => name_,
        // The talk of a sub-agent, and one that was compacted, have no prompt of the person.
        async () => (await session.fork(`main@${seq}`, { name: name_ })).name,
      );
      const { id, path, text: handed } = await reprise.at(`${session.id}/${branch}`).handBack({ format });
      expect(path).toContain(id);
      const again = await reprise.import(pieces(handed), { format, session: id });
      expect(await saidIn(again, 'main'), `forked at ${seq}`).toEqual(await saidIn(session, branch));
      edits += handed.includes('Ask it once more.') ? 1 : 0;
    }
    expect(edits).toBeGreaterThan(seqs.length / 2);
  });
});

describe('a conversation that stands in requests', () => {
  const user = (content: string): JsonObject => ({ role: 'user', content });
  const asks = { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 2, b: 2 } };
  const asked: JsonObject = { role: 'assistant', content: [{ type: 'text', text: 'I add.' }, asks] };
  const result = { type: 'tool-result', toolCallId: 'c1', toolName: 'add', output: '4' };
  const history: JsonObject[] = [user('Earlier?'), { role: 'assistant', content: 'Yes.' }, user('ok'), user('ok')];
  const model = (call: string, messages: JsonObject[], message: JsonObject): EventDraft[] => {
    const about = { call, kind: 'model', name: 'm' };
    return [
      { type: 'call.started', agent: 'a', run: 'r', data: { ...about, request: { messages } } },
      { type: 'call.ended', agent: 'a', run: 'r', data: { ...about, outcome: 'ok', message } },
    ];
  };
  const tool = { call: 'c1', kind: 'tool', name: 'add' };
  const drafts = (hasToolEvents: boolean): EventDraft[] => [
    { type: 'run.started', agent: 'a', run: 'r', data: { title: 'Sum', messages: history } },
    { type: 'message.added', data: { message: user('2+2?') } },
    ...model('m1', [...history, user('2+2?')], asked),
    ...(hasToolEvents
      ? [
          { type: 'call.started', agent: 'a', run: 'r', data: { ...tool, input: { a: 2, b: 2 } } },
          { type: 'call.ended', agent: 'a', run: 'r', data: { ...tool, outcome: 'ok', output: '4' } },
        ]
      : []),
    ...model('m2', [...history, user('2+2?'), asked, { role: 'tool', content: [result] }, user('Go on.')], {
      role: 'assistant',
      content: 'It is 4.',
    }),
  ];

  test('has the answers of each turn where ids repeat, the question of each run, and nothing that a tool asked', async () => {
    const turn = (text: string, output: string): EventDraft[] => [
      { type: 'message.added', agent: 'a', data: { message: user(text) } },
      { type: 'message.added', agent: 'a', data: { message: asked } },
      { type: 'message.added', agent: 'a', data: { message: { role: 'tool', content: [{ ...result, output }] } } },
    ];
    await (await reprise.createSession('ids again')).append([...turn('One?', 'first'), ...turn('Two?', 'second')]);
    const again = await reprise.at('ids again').export({ format: 'messages' }).text();
    expect([again.includes('first'), again.includes('second')]).toEqual([true, true]);
    const yes = { role: 'assistant', content: 'Yes.' };
    const run = (name: string): EventDraft[] => [
      { type: 'run.started', agent: 'a', run: name, data: {} },
      ...model('m1', [user('Really?')], yes).map((draft) => ({ ...draft, run: name })),
    ];
    const outer = { type: 'call.started', agent: 'a', run: 'two', id: 'outer', data: { ...tool, input: {} } };
    const inner = model('m2', [user('Sum up the file.')], yes).map((draft) => ({
      ...draft,
      run: 'two',
      cause: 'outer',
    }));
    await (await reprise.createSession('twice')).append([...run('one'), ...run('two'), outer, ...inner]);
    const text = await reprise.at('twice').export({ format: 'markdown' }).text();
    expect([text.match(/Really\?/g)?.length, text.includes('Sum up')]).toEqual([2, false]);
  });

  test.each([true, false])('is written whole, each message once; its tools have events: %j', async (hasToolEvents) => {
    const id = `requests ${String(hasToolEvents)}`;
    // The ids of an import: those of the events of one unit differ at their end.
    const own = drafts(hasToolEvents).map((draft, at) => ({ ...draft, id: at === 0 ? '00ab' : `00ab-${at}` }));
    await (await reprise.createSession(id)).append(own);
    const text = await reprise.at(id).export({ format: 'markdown' }).text();
    const shown = [...text.matchAll(/^(?:#{2,3} (\w+)|[\w?+. ]+)$/gm)]
      .map(([line]) => line)
      .filter((line) => line !== '');
    expect(shown).toEqual(
      ['## user', 'Earlier?', '## a', 'Yes.', '## user', 'ok', '## user', 'ok', '## user', '2+2?'].concat([
        '## a',
        'I add.',
        '### add',
        '4',
        '## user',
        'Go on.',
        '## a',
        'It is 4.',
      ]),
    );
    const whole = [...history, user('2+2?'), asked, { role: 'tool', content: [result] }, user('Go on.')];
    const said = [...whole, { role: 'assistant', content: 'It is 4.' }].map(({ role, content }) => [
      role,
      typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    ]);
    for (const format of ['atif', 'messages', 'claude-code', 'codex', 'pi']) {
      const again = await reprise.import(pieces(await reprise.at(id).export({ format }).text()), {
        session: `${id} ${format}`,
      });
      expect(flat(await saidIn(again, 'main')), format).toEqual(flat(said));
    }
    const { steps } = JSON.parse(await reprise.at(id).export({ format: 'atif' }).text()) as { steps: Step[] };
    for (const { tool_calls = [], observation } of steps)
      for (const { source_call_id } of observation?.results ?? [])
        expect(tool_calls.map(({ tool_call_id }) => tool_call_id)).toContain(source_call_id);
    expect(steps.map(({ step_id }) => step_id)).toEqual(steps.map((_, index) => index + 1));
  });
});

/** Returns the parts with their roles: some tools write a message as several. */
const flat = (said: readonly unknown[]): unknown[] =>
  (said as [string, unknown[]][]).flatMap(([role, parts]) => parts.map((part) => [role, part]));

interface Step {
  readonly step_id: number;
  readonly tool_calls?: readonly { readonly tool_call_id: string }[];
  readonly observation?: { readonly results: readonly { readonly source_call_id?: string }[] };
}

test('an observation of ATIF that answers no tool call is what the agent saw next', async () => {
  const steps = [
    { step_id: 1, source: 'user', message: 'List the files.' },
    { step_id: 2, source: 'agent', message: 'ls', observation: { results: [{ content: 'a.txt' }] } },
    { step_id: 3, source: 'agent', message: 'One file.' },
  ];
  const agent = { name: 'terminus', version: '2' };
  const source = JSON.stringify({ schema_version: 'ATIF-v1.7', session_id: 'seen', agent, steps });
  const session = await reprise.import(pieces(source));
  expect((await saidIn(session, 'main')).map((line) => JSON.stringify(line))).toEqual([
    '["user",[{"type":"text","text":"List the files."}]]',
    '["assistant",[{"type":"text","text":"ls"}]]',
    '["user",[{"type":"text","text":"a.txt"}]]',
    '["assistant",[{"type":"text","text":"One file."}]]',
  ]);
  // Events that are recorded here go on behind it; the list of a request repeats the steps before.
  const about = { call: 'm', kind: 'model', name: 'm' };
  const messages = [
    ...steps.map(({ message: content }) => ({ role: 'user', content })),
    { role: 'user', content: 'And?' },
  ];
  await session.append([
    { type: 'message.added', data: { message: { role: 'user', content: 'And?' } } },
    { type: 'call.started', data: { ...about, request: { messages } } },
    { type: 'call.ended', data: { ...about, outcome: 'ok', message: { role: 'assistant', content: 'No more.' } } },
  ]);
  const written = JSON.parse(await reprise.at('seen').export({ format: 'atif' }).text()) as {
    steps: (Step & { message: string })[];
  };
  expect(written.steps.map(({ step_id, message }) => `${step_id} ${message}`)).toEqual([
    '1 List the files.',
    '2 ls',
    '3 One file.',
    '4 And?',
    '5 No more.',
  ]);
});
