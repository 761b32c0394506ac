/** Failed runs of several agents, in the two shapes in which Who&When publishes them, with the message that went wrong. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { conversation, openReprise, type Session } from '../../src/index.ts';

interface FailedRun {
  readonly question: string;
  readonly history: readonly { readonly role: string; readonly name?: string; readonly content: string }[];
  readonly mistake_agent: string;
  /** The index of the message that went wrong. */
  readonly mistake_step: string;
  readonly mistake_reason: string;
}

const written: Readonly<Record<string, FailedRun>> = {
  'a team with a lead, whose role says who speaks': {
    question: 'Which class is open after seven?',
    history: [
      { role: 'human', content: 'Which class is open after seven?' },
      { role: 'Orchestrator (thought)', content: 'Ask the web surfer.' },
      { role: 'Orchestrator (-> WebSurfer)', content: 'Please look for classes.' },
      { role: 'WebSurfer', content: 'I clicked on an advertisement.' },
      { role: 'Orchestrator (-> human)', content: 'Then it is closed.' },
    ],
    mistake_agent: 'WebSurfer',
    mistake_step: '3',
    mistake_reason: 'It clicked on something that has nothing to do with the task.',
  },
  'a round of experts, whose name says who speaks, wrong from the first message': {
    question: 'How many clients live on the even side?',
    history: [
      { role: 'assistant', name: 'Sheet_Expert', content: 'Count the rows: 4.' },
      { role: 'user', name: 'Computer_terminal', content: 'exitcode: 0' },
      { role: 'user', name: 'Check_Expert', content: 'TERMINATE' },
    ],
    mistake_agent: 'Sheet_Expert',
    mistake_step: '0',
    mistake_reason: 'It counted rows without looking at the addresses.',
  },
};

const folder = join(import.meta.dirname, '../../../shared/samples/who-and-when');
const published = existsSync(folder)
  ? readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8')) as FailedRun] as const)
  : [];

const speakerOf = ({ role, name }: FailedRun['history'][number]): string => (name ?? role).replace(/ \(.*/, '');

/** Records a failed run: each speaker is an agent that joins when it first speaks, each message a turn. */
async function load(session: Session, { history }: FailedRun): Promise<void> {
  const there = new Set<string>();
  for (const [turn, said] of history.entries()) {
    const agent = speakerOf(said);
    if (!there.has(agent)) await session.spawn(agent, { scope: [], fromTurn: turn });
    there.add(agent);
    const role = said.role === 'human' || said.role === 'user' ? 'user' : 'assistant';
    await session.append({ type: 'message.added', agent, turn, data: { message: { role, content: said.content } } });
  }
}

const contents = async (session: Session, branch: string): Promise<readonly unknown[]> => {
  const said: unknown[] = [];
  for await (const { data } of session.at(branch).replay({ filter: { types: ['message.added'] } }))
    said.push((data['message'] as { readonly content: unknown }).content);
  return said;
};

async function forkAtTheMistake(run: FailedRun): Promise<void> {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('failed');
  await load(session, run);
  const said = run.history.map(({ content }) => content);
  const agents = await session.fleet.agents();
  expect(agents.map(({ agent }) => agent)).toEqual([...new Set(run.history.map(speakerOf))]);
  expect(await contents(session, 'main')).toEqual(said);

  const turn = Number(run.mistake_step);
  const found = await session.find({ types: ['message.added'], agent: run.mistake_agent, turn });
  const wrong = await found?.locate();
  expect(wrong).toBeDefined();
  const message = { role: 'assistant', content: 'What should have been said.' } as const;
  const branch = await session
    .at({ story: turn })
    .fork({ name: 'mended', reason: run.mistake_reason, edits: [{ kind: 'message', seq: wrong?.seq ?? 0, message }] });
  expect(await contents(session, 'mended')).toEqual([...said.slice(0, turn), message.content]);
  const { messages } = await branch.at('mended').as(run.mistake_agent).fold(conversation);
  expect(messages.at(-1)?.message?.['content']).toBe(message.content);

  // Who spoke next on the original goes on from the mended message; nothing that was recorded fits any more.
  const last = run.history.length - 1;
  const { live, stoppedBy } = await branch.runForward({
    untilTurn: last,
    onTurn: ({ recorder, turn: now }) => {
      const agent = speakerOf(run.history[now] ?? { role: 'human', content: '' });
      recorder.message({ role: 'assistant', content: `Goes on in turn ${now}.` }, { agent });
    },
  });
  expect([stoppedBy, live.length]).toEqual([undefined, last - turn]);
  expect(await contents(session, 'main'), 'the recorded run is untouched').toEqual(said);
  const { beliefs } = await reprise.diff('failed', 'failed/mended', { beliefs: true, fromTurn: turn });
  expect(beliefs?.answers.map(({ turn: at }) => at)).toContain(turn);
}

test.each(Object.entries(written))('%s: the run loads, and forks at the labeled message with it replaced', (_, run) =>
  forkAtTheMistake(run),
);

test('the published runs load, and fork at the labeled message with it replaced', async (context) => {
  if (published.length === 0) context.skip('there are no published runs beside this checkout');
  for (const [, run] of published) await forkAtTheMistake(run);
});
