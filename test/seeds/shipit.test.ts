/**
 * The promises of shipit's replay, line by line, and its mistakes: each of them has a test here that its own code would
 * fail. Reading and writing its files is in `shipit-import.test.ts`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  conversation,
  type JsonObject,
  type Message,
  messagesOf,
  openReprise,
  type Reprise,
  type ResumeContext,
  type Session,
  strictDiffLines,
} from '../../src/index.ts';

let directory = '';
let reprise: Reprise;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-shipit-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
beforeEach(async () => {
  reprise = await openReprise('memory:');
  return () => reprise.close();
});

const event = (type: string, message: string, payload: JsonObject): JsonObject => ({ type, message, payload });

/** A run as shipit's runtime writes it: the prompt is under `prompt`, the tool's name only in the message. */
const native = {
  trace_id: 'run-abc',
  metadata: { session_id: 's-1', agent_name: 'researcher' },
  events: [
    event('run_started', 'Agent run started', { prompt: 'Who wrote it, and when?' }),
    event('step_started', 'LLM completion started', { iteration: 1, tool_count: 1 }),
    event('tool_called', 'Tool called: search', { iteration: 1, arguments: { query: 'author' } }),
    event('tool_completed', 'Tool completed: search', { iteration: 1, output: 'Melville' }),
    event('run_completed', 'Agent run completed', { output: 'Melville.', content: 'Melville.' }),
  ],
};

/** An agent that notes what it was given, and answers. */
function noting(answer = 'done'): {
  readonly seen: { messages: readonly Message[]; prompt: Message | undefined; run: unknown; context: ResumeContext }[];
  readonly agent: (context: ResumeContext, run: unknown) => Promise<string>;
} {
  const seen: { messages: readonly Message[]; prompt: Message | undefined; run: unknown; context: ResumeContext }[] =
    [];
  return {
    seen,
    agent: async (context, run) => {
      const { recorder, messages, prompt } = context;
      seen.push({ messages, prompt, run, context });
      const sent = prompt === undefined ? messages : [...messages, prompt];
      return recorder.call(
        { kind: 'model', name: 'm', request: { messages: sent } },
        async () => answer,
        (text) => ({ message: { role: 'assistant', content: text } }),
      );
    },
  };
}

const textsOf = (messages: readonly Message[]): unknown[] => messages.map(({ content }) => content);
const userTexts = async (session: Session, at: string): Promise<unknown[]> =>
  messagesOf(await session.at(at).fold(conversation), { role: 'user' }).map(({ message }) => message?.['content']);

/** The seq of the first event that came from one of shipit's. */
async function seqOf(session: Session, foreignType: string, which: 'first' | 'last' = 'last'): Promise<number> {
  let found = 0;
  const fields = [{ key: 'foreign.type', pattern: `^${foreignType}$` }];
  for await (const { seq } of session.replay({ filter: { fields } })) if (which === 'last' || found === 0) found = seq;
  return found;
}

describe('B2 load', () => {
  test('from a file, from a record and from the store; a missing id is named', async () => {
    const path = join(directory, 'from-file.json');
    await writeFile(path, JSON.stringify(native));
    const fromFile = await reprise.import(path, { session: 'file' });
    const fromRecord = await reprise.import(native, { session: 'record' });
    const fromStore = await reprise.session('file');
    expect(await userTexts(fromFile, 'main')).toEqual(await userTexts(fromRecord, 'main'));
    expect(fromStore.id).toBe('file');
    await expect(reprise.session('gone')).rejects.toThrow('"gone"');
    await expect(reprise.import(join(directory, 'gone.json'))).rejects.toMatchObject({ code: 'import.invalid' });
  });

  test('a file without an id of its own is called by its name', async () => {
    const path = join(directory, 'nameless.json');
    await writeFile(path, JSON.stringify({ events: [] }));
    expect((await reprise.import(path, { format: 'shipit' })).id).toBe('nameless');
  });

  test('an unknown key of an event is kept; shipit raises a TypeError', async () => {
    const odd = { ...native, events: [{ ...native.events[0], span: 7 }] };
    const session = await reprise.import(odd);
    expect(JSON.parse(await reprise.at(session.id).export({ format: 'shipit' }).text())).toEqual(odd);
  });

  test('copies are defensive: changing what was given or what was read changes nothing', async () => {
    const given = structuredClone(native);
    const session = await reprise.import(given);
    (given.events[0] as { payload: { prompt: string } }).payload.prompt = 'changed';
    given.metadata.agent_name = 'changed';
    const held = (await session.metadata()) as Record<string, unknown>;
    held['agent_name'] = 'changed too';
    expect(await userTexts(session, 'main')).toEqual(['Who wrote it, and when?']);
    expect(await session.metadata()).toMatchObject({ agent_name: 'researcher' });
  });

  test('an id is never a path', async () => {
    const session = await reprise.import({ ...native, trace_id: '../../etc/passwd' });
    expect(session.id).toBe('../../etc/passwd');
    expect((await reprise.session('../../etc/passwd')).id).toBe(session.id);
  });

  test('an append costs the same however long the run is; shipit writes its whole file again for each', async () => {
    const session = await reprise.createSession('long');
    const big = 'x'.repeat(2_000);
    await session.append(Array.from({ length: 500 }, (_, n) => ({ type: 'note.added', data: { text: `${n}${big}` } })));
    const before = (await session.tree()).bytes;
    await session.append({ type: 'note.added', data: { text: 'small' } });
    expect((await session.tree()).bytes - before).toBeLessThan(1_000);
  });
});

describe('B2 look', () => {
  test('indices by type: none, one, several, by our names and by its own', async () => {
    const session = await reprise.import(native);
    const count = async (pattern: string): Promise<number> => {
      let found = 0;
      const fields = [{ key: 'foreign.type', pattern }];
      for await (const _ of session.replay({ filter: { fields } })) found++;
      return found;
    };
    expect([await count('^gone$'), await count('^tool_called$'), await count('^tool_')]).toEqual([0, 1, 2]);
    expect(await session.find({ types: ['call.started'], kind: 'tool' })).toBeDefined();
    expect(await session.find({ types: ['call.started'], kind: 'http' })).toBeUndefined();
  });

  test('messages at a point: out of range is refused at both ends, 0 is the empty beginning', async () => {
    const session = await reprise.import(native);
    const { head } = await session.locate();
    await expect(session.at(`main@${head + 1}`).fold(conversation)).rejects.toMatchObject({
      code: 'point.out-of-range',
    });
    expect(() => session.at({ seq: -1 })).toThrow('-1');
    expect((await session.at('main@0').fold(conversation)).messages).toEqual([]);
  });

  test.each(['prompt', 'user_prompt'])(
    'the prompt under %s is a user message: the replayer misses its own runtime',
    async (key) => {
      const session = await reprise.import({ trace_id: 't', events: [event('run_started', '', { [key]: 'Hi' })] });
      expect(await userTexts(session, 'main')).toEqual(['Hi']);
    },
  );

  test('the name of a tool is recovered from the message, or taken from the payload', async () => {
    const session = await reprise.import({
      trace_id: 't',
      events: [
        event('run_started', '', { prompt: 'x' }),
        event('tool_called', 'Tool called: from message', { arguments: {} }),
        event('tool_called', '', { tool: 'from payload', arguments: {} }),
      ],
    });
    const names: unknown[] = [];
    for await (const { data } of session.replay({ filter: { types: ['call.started'] } })) names.push(data['name']);
    expect(names).toEqual(['from message', 'from payload']);
  });

  test('a result of a tool is a tool message that answers its call; shipit makes the assistant say it', async () => {
    const session = await reprise.import(native);
    const { messages } = await session.fold(conversation);
    expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
    const ids = messages.flatMap(({ message }) =>
      Array.isArray(message?.['content'])
        ? (message['content'] as { toolCallId: string }[]).map((part) => part.toolCallId)
        : [],
    );
    expect(ids).toEqual(['t1', 't1']);
  });
});

describe('B2 fork', () => {
  test('out of range is refused, at both ends', async () => {
    const session = await reprise.import(native);
    await expect(session.fork('main@999')).rejects.toMatchObject({ code: 'point.out-of-range' });
    expect(() => session.at({ seq: -1 })).toThrow('-1');
  });

  test('without an edit the prompt is sent once; shipit sends it twice', async () => {
    const session = await reprise.import(native);
    const branch = await session.fork(`main@${await seqOf(session, 'run_started')}`);
    const { seen, agent } = noting();
    await branch.resume(agent);
    expect(textsOf(seen[0]?.messages ?? [])).not.toContain('Who wrote it, and when?');
    expect(seen[0]?.prompt?.content).toBe('Who wrote it, and when?');
    expect(await userTexts(session, branch.name)).toEqual(['Who wrote it, and when?']);
  });

  test('an edit replaces the last user message wherever it is; in shipit it stays after a tool has answered', async () => {
    const session = await reprise.import(native);
    const branch = await session.fork(`main@${await seqOf(session, 'tool_completed')}`, { prompt: 'Only: who?' });
    const { seen, agent } = noting();
    await branch.resume(agent);
    expect(seen[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(seen[0]?.messages[0]?.content).toBe('Only: who?');
    expect(JSON.stringify(seen)).not.toContain('and when?');
  });

  test('the compatible mode edits it only if it is last', async () => {
    const session = await reprise.import(native);
    const edits = [{ kind: 'prompt', text: 'Only: who?', mode: 'trailing' }] as const;
    await session.fork(`main@${await seqOf(session, 'run_started')}`, { name: 'last', edits });
    expect(await userTexts(session, 'last')).toEqual(['Only: who?']);
    await expect(session.fork(`main@${await seqOf(session, 'tool_completed')}`, { edits })).rejects.toMatchObject({
      code: 'edit.invalid',
    });
  });

  test('tool arguments, a tool result, the system prompt and the model can be edited too', async () => {
    const session = await reprise.import(native);
    const branch = await session.fork(`main@${await seqOf(session, 'tool_completed')}`, {
      system: 'Be brief.',
      model: 'large-1',
      edits: [
        { kind: 'toolInput', call: 't1', input: { query: 'writer' } },
        { kind: 'toolResult', call: 't1', output: 'Herman Melville' },
      ],
    });
    const { seen, agent } = noting();
    await branch.resume(agent);
    const { messages, context } = seen[0] as (typeof seen)[number];
    expect([context.system, context.model]).toEqual(['Be brief.', 'large-1']);
    expect(JSON.stringify(messages)).toContain('Herman Melville');
    expect(JSON.stringify(messages)).toContain('"query":"writer"');
    expect(JSON.stringify(messages)).not.toContain('"query":"author"');
  });

  test('the system prompt is handed over apart from the history, not behind it', async () => {
    const session = await reprise.createSession('system');
    const system = { role: 'system', content: 'Be kind.' };
    const question = { role: 'user', content: 'Hello?' };
    await session.append([
      { type: 'run.started' },
      {
        type: 'call.started',
        data: { call: 'm', kind: 'model', name: 'm', request: { messages: [system, question] } },
      },
    ]);
    const { seen, agent } = noting();
    await (await session.fork('main')).resume(agent);
    expect(seen[0]?.messages.map(({ role }) => role)).not.toContain('system');
  });

  test('lineage is in the child and listed as a tree; in shipit it dies with the returned object', async () => {
    const path = `sqlite:${join(directory, 'lineage.db')}`;
    {
      await using written = await openReprise(path);
      const session = await written.import(native);
      const branch = await session.fork('main@3', { name: 'child', reason: 'debug-1', metadata: { note: 'x' } });
      await (await branch.fork({ name: 'grandchild' })).append({
        type: 'note.added',
        data: { text: 'x' },
      });
    }
    await using read = await openReprise(path);
    const session = await read.session('run-abc');
    const [child] = (await session.tree()).children;
    expect(child).toMatchObject({ branch: 'child', parent: { branch: 'main', seq: 3 }, reason: 'debug-1' });
    expect(child?.children).toMatchObject([{ branch: 'grandchild' }]);
    expect(await session.at('child').metadata()).toMatchObject({ agent_name: 'researcher', note: 'x' });
    expect(await session.metadata()).not.toHaveProperty('note');
  });

  test('a fork does not change with its source', async () => {
    const session = await reprise.import(native);
    const branch = await session.fork('main', { name: 'kept' });
    const before = await branch.fold(conversation);
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'later' } } });
    await session.rewind(3);
    expect(await branch.fold(conversation)).toEqual(before);
  });
});

describe('B2 resume', () => {
  test('keyword arguments go to the run call unchanged and are recorded', async () => {
    const session = await reprise.import(native);
    const { seen, agent } = noting();
    const run = { max_iterations: 3, output_schema: { type: 'object' } };
    const branch = await session.fork(`main@${await seqOf(session, 'run_started')}`);
    await branch.resume(agent, { run });
    expect(seen[0]?.run).toEqual(run);
    const recorded: unknown[] = [];
    for await (const { data } of branch.replay({ filter: { types: ['run.started'] } }))
      recorded.push(JSON.stringify(data));
    expect(recorded.at(-1)).toContain('"max_iterations":3');
  });

  test('what the agent remembers of that session does not stand in for the forked history', async () => {
    const session = await reprise.import(native);
    const { seen, agent } = noting('first');
    const point = `main@${await seqOf(session, 'run_started')}`;
    await (await session.fork(point, { prompt: 'One' })).resume(agent);
    await (await session.fork(point, { prompt: 'Two' })).resume(agent);
    expect(seen.map(({ prompt }) => prompt?.content)).toEqual(['One', 'Two']);
    expect(JSON.stringify(seen[1]?.messages)).not.toContain('One');
    expect(seen[1]?.messages).toEqual([]);
  });

  test('the source is never changed, whatever the agent does', async () => {
    const session = await reprise.import(native);
    const before = await reprise.at(session.id).export({ format: 'shipit' }).text();
    const { head } = await session.locate();
    const branch = await session.fork(`main@${await seqOf(session, 'run_started')}`);
    await expect(
      branch.resume(async ({ messages }) => {
        (messages as Message[]).push({ role: 'user', content: 'injected' });
        throw new Error('and then it broke');
      }),
    ).rejects.toThrow('and then it broke');
    expect(await reprise.at(session.id).export({ format: 'shipit' }).text()).toBe(before);
    expect((await session.locate()).head).toBe(head);
  });

  test('what came of it can be saved, loaded, forked and diffed again; shipit calls a method that does not exist', async () => {
    const session = await reprise.import(native);
    const branch = await session.fork(`main@${await seqOf(session, 'run_started')}`, { name: 'again' });
    await branch.resume(noting('Herman Melville.').agent);
    const saved = await reprise.at('run-abc/again').export({ format: 'shipit' }).text();
    const back = await reprise.import(JSON.parse(saved) as never, { session: 'back', format: 'shipit' });
    expect(await userTexts(back, 'main')).toContain('Who wrote it, and when?');
    expect(saved).toContain('Herman Melville.');
    await back.fork('main', { name: 'further' });
    expect((await reprise.diff('back', 'back/further')).identical).toBe(true);
  });
});

describe('B2 diff', () => {
  /** Two traces of events with these types, with messages and payloads that differ. */
  const traces = async (left: readonly string[], right: readonly string[]): Promise<void> => {
    for (const [id, types] of [
      ['left', left],
      ['right', right],
    ] as const)
      await reprise.import({
        trace_id: id,
        metadata: { id },
        events: types.map((type, index) =>
          event(type, `${id} ${index}`, { prompt: id, arguments: { id }, output: id }),
        ),
      });
  };

  const sides = async (left: readonly string[], right: readonly string[]): Promise<void> => {
    const make = async (id: string, types: readonly string[]): Promise<unknown> =>
      (await reprise.createSession(id)).append(types.map((type) => ({ type: `t.${type}`, data: { text: type } })));
    await make('left', left);
    await make('right', right);
  };

  // shipit's own numbers. The letters are five of its types.
  const typesOf = { a: 'run_started', b: 'tool_called', c: 'tool_completed', x: 'llm_retry', y: 'run_completed' };
  const spelt = (letters: string): string[] => [...letters].map((letter) => typesOf[letter as keyof typeof typesOf]);
  test.each([
    ['identical runs', 'ab', 'ab', { identical: true, matched: 2, divergedAt: null, mismatches: 0, tails: [0, 0] }],
    ['a prefix', 'ab', 'abc', { identical: false, matched: 2, divergedAt: 2, mismatches: 0, tails: [0, 1] }],
    ['a longer left', 'abc', 'a', { identical: false, matched: 1, divergedAt: 1, mismatches: 0, tails: [2, 0] }],
    ['divergence', 'abc', 'axy', { identical: false, matched: 1, divergedAt: 1, mismatches: 2, tails: [0, 0] }],
    ['reconvergence', 'abc', 'axc', { identical: false, matched: 1, divergedAt: 1, mismatches: 1, tails: [0, 0] }],
  ])('the compatible mode has its numbers for %s', async (_, left, right, expected) => {
    await traces(spelt(left), spelt(right));
    const found = await reprise.diff('left', 'right', { strict: true, format: 'shipit' });
    const { identical, matched, divergedIndex: divergedAt, typeMismatches, onlyLeft, onlyRight } = found;
    const tails = [onlyLeft.length, onlyRight.length];
    expect({ identical, matched, divergedAt, mismatches: typeMismatches.length, tails }).toEqual(expected);
  });

  test('the compatible mode names events by the seqs that they have here, and by shipit’s indexes', async () => {
    await traces(spelt('abcy'), spelt('abx'));
    const found = await reprise.diff('left', 'right', { strict: true, format: 'shipit' });
    const [mismatch] = found.typeMismatches;
    expect([found.divergedIndex, mismatch?.index, found.onlyLeft[0]?.index]).toEqual([2, 2, 3]);
    const typeAt = async (session: string, seq: number | undefined): Promise<unknown> => {
      const filter = { after: (seq ?? 0) - 1, through: seq ?? 0 };
      for await (const { data } of (await reprise.session(session)).replay({ filter }))
        return (JSON.parse((data['foreign'] as { text: string }).text) as { type: string }).type;
      return undefined;
    };
    expect([await typeAt('left', mismatch?.left), await typeAt('right', mismatch?.right)]).toEqual(spelt('cx'));
    expect(await typeAt('left', found.onlyLeft[0]?.seq)).toBe('run_completed');
    expect(strictDiffLines(found)).toContain(`diverged at seq ${mismatch?.left}`);
  });

  test('lines have a title, a verdict and a cap', async () => {
    await sides(['a', ...Array.from({ length: 60 }, () => 'b')], ['a', ...Array.from({ length: 60 }, () => 'c')]);
    const diff = await reprise.diff('left', 'right', { strict: true });
    expect(strictDiffLines(diff)[0]).toBe('diff left vs right');
    expect(strictDiffLines(diff, 5)).toHaveLength(5);
    expect(strictDiffLines(diff).length).toBeLessThanOrEqual(40);
    expect(strictDiffLines(await reprise.diff('left', 'left', { strict: true }))).toContain('✓ identical');
  });

  test('contents count; shipit says two runs with other payloads are identical', async () => {
    await reprise.import(native, { session: 'one' });
    const other = structuredClone(native);
    (other.events[3] as { payload: { output: string } }).payload.output = 'Hawthorne';
    await reprise.import(other, { session: 'two' });
    expect((await reprise.diff('one', 'two', { strict: true })).identical).toBe(true);
    const diff = await reprise.diff('one', 'two');
    expect(diff.identical).toBe(false);
    expect(JSON.stringify(diff.pairs.filter(({ kind }) => kind === 'changed'))).toContain('Hawthorne');
  });

  test('where two runs come together again is seen', async () => {
    await sides(['a', 'b', 'c', 'd', 'e'], ['a', 'x', 'c', 'd', 'e']);
    const { divergedAt, sustainedAt, reconvergedAt, matched } = await reprise.diff('left', 'right');
    expect([divergedAt, sustainedAt, matched]).toEqual([{ left: 2, right: 2 }, null, 4]);
    expect(reconvergedAt).toEqual([{ left: 3, right: 3 }]);
  });

  test.each([[42], [null], [{ events: [] }]])('%j is no place to diff', async (wrong) => {
    await sides(['a'], ['a']);
    for (const [left, right] of [
      [wrong, 'right'],
      ['left', wrong],
    ])
      await expect(reprise.diff(left as never, right as never)).rejects.toMatchObject({ code: 'ref.invalid' });
  });
});
