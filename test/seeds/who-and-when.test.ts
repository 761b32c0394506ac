/** A failed run of several agents, in the shape in which Who&When publishes them, with the message that went wrong. */
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

const failed: FailedRun = {
  question: 'Which class is open after seven?',
  history: [
    { role: 'human', content: 'Which class is open after seven?' },
    { role: 'Orchestrator (thought)', content: 'Ask the web surfer.' },
    { role: 'WebSurfer', content: 'I clicked on an advertisement.' },
    { role: 'Orchestrator', content: 'Then it is closed.' },
  ],
  mistake_agent: 'WebSurfer',
  mistake_step: '2',
  mistake_reason: 'It clicked on something that has nothing to do with the task.',
};

/** Records a failed run: each speaker is an agent, each message a turn. */
async function load(session: Session, { history }: FailedRun): Promise<void> {
  for (const [turn, { role, name, content }] of history.entries()) {
    const agent = (name ?? role).replace(/ \(.*/, '');
    const { agents } = await session.fleetAt();
    if (!agents.some((held) => held.agent === agent)) await session.fleet.spawn(agent, { scope: [] });
    const message = { role: role === 'human' ? 'user' : 'assistant', content };
    await session.append({ type: 'message.added', agent, turn, data: { message } });
  }
}

test('a failed run loads as agents and messages, and forks at the labelled message with it replaced', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('failed');
  await load(session, failed);
  const { agents } = await session.fleetAt();
  expect(agents.map(({ agent }) => agent)).toEqual(['human', 'Orchestrator', 'WebSurfer']);

  const turn = Number(failed.mistake_step);
  const wrong = await session.findLast({ types: ['message.added'], agent: failed.mistake_agent, turn });
  expect(wrong).toBeDefined();
  const branch = await session.fork(
    { turn },
    {
      name: 'mended',
      reason: failed.mistake_reason,
      edits: [{ kind: 'message', seq: wrong?.seq ?? 0, message: { role: 'assistant', content: 'Open until nine.' } }],
    },
  );
  const { messages } = await branch.as('WebSurfer').stateAt('mended', conversation);
  expect(messages.map(({ message }) => message?.['content'])).toEqual(['Open until nine.']);
  const { live } = await branch.runForward({
    untilTurn: 3,
    onTurn: { Orchestrator: ({ recorder }) => recorder.message({ role: 'assistant', content: 'It is open.' }) },
    reuseUnchanged: true,
  });
  expect(live.map(({ agent }) => agent)).toEqual(['Orchestrator']);
  expect((await session.as('Orchestrator').knownAt('main')).messages.at(-1)?.message?.['content']).toBe(
    'Then it is closed.',
  );
});
