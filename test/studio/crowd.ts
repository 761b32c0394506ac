/** Histories that are too much for a careless page: many branches, many lanes, long and hostile content. */
import { openReprise, type Reprise } from '../../src/index.ts';
import { busyStory } from './busy-story.ts';

/** The namespace of these histories; the demo has its own. */
export const crowd = 'crowd';

/** A session id with every character that means something in a ref or an address. */
export const strangeId = 'a/b@c:d%e ?#f';

/** The size of the large message, in letters. */
const largeLetters = 12_000_000;

/** Recorded content that would act if it were anything but text. */
const evil = {
  script: '<script>document.title = "owned"</script><img src=x onerror="document.title=\'owned\'">',
  end: '</script></style>-->',
  escape: 'red \u001b[31m and \u202egnp.exe',
  link: '[click](javascript:alert(1)) https://evil.example',
};

/** Records the histories into a store. */
export async function recordCrowd(store: string): Promise<void> {
  await using reprise = await openReprise({ store, namespace: crowd, config: false });
  await branches(reprise);
  const lanes = await reprise.session('lanes', { create: true });
  await lanes.append([...busyStory(2_000, 60)]);
  await large(reprise);
  await waitingOne(reprise);
  const hostile = await reprise.session(strangeId, { create: true });
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, number) => [`key-${number}`, number]));
  await hostile.append([
    written('content', evil),
    written('line', 'x'.repeat(4_000_000)),
    written('many', many),
    { type: 'message.added', agent: 'support', data: { message: { role: 'user', content: evil.script } } },
  ]);
}

const written = (key: string, value: unknown) => ({
  type: 'state.committed',
  agent: 'support',
  data: { operations: [{ agent: 'support', key, op: 'write', value, version: 1 }] } as never,
});

/** Records a run that ended because it waits for a person, as a different program leaves it. */
async function waitingOne(reprise: Reprise): Promise<void> {
  const session = await reprise.session('approval', { create: true });
  const who = { agent: 'support', run: 'run-1', turn: 1 };
  const input = { tool: 'refund', amount: 500 };
  await session.append([
    { type: 'run.started', ...who, data: { title: 'Refund that needs a person' } },
    { type: 'message.added', ...who, data: { message: { role: 'user', content: 'Refund order 7.' } } },
    {
      type: 'call.started',
      ...who,
      data: { call: 'approval:c1', kind: 'person', name: 'approval', about: 'c1', input },
    },
    { type: 'run.ended', ...who, data: { outcome: 'waiting' } },
  ]);
}

async function branches(reprise: Reprise): Promise<void> {
  const session = await reprise.session('branches', { create: true });
  await session.append([...busyStory(20)]);
  for (let number = 1; number <= 300; number++)
    await session.fork(`main@${1 + (number % 15)}`, { name: `try-${number}`, reason: `attempt ${number}` });
}

async function large(reprise: Reprise): Promise<void> {
  const session = await reprise.session('large', { create: true });
  const message = { role: 'user', content: 'A long letter. '.repeat(largeLetters / 15) };
  const who = { agent: 'support', run: 'run-1', turn: 1 };
  await session.append([
    { type: 'message.added', ...who, data: { message } },
    {
      type: 'call.started',
      id: 'asked',
      ...who,
      data: { call: 'asked', kind: 'model', name: 'large-1', request: { messages: [message] } },
    },
    {
      type: 'call.ended',
      cause: 'asked',
      ...who,
      data: {
        call: 'asked',
        kind: 'model',
        name: 'large-1',
        outcome: 'ok',
        message: { role: 'assistant', content: '# Plan\n\n- **refund** what was paid' },
      },
    },
  ]);
}
