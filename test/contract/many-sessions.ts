import type { Reprise, Session } from '../../src/index.ts';

const hostile = [
  'a/b',
  'a@1',
  'a:b',
  '%41',
  "'; DROP TABLE events; --",
  '"',
  ' ',
  '..',
  'ä',
  'a\u0308',
  '日本',
  '\u{1F600}',
  '__proto__',
  'null',
];

const say = (content: string) => ({ type: 'message.added', data: { message: { role: 'user', content } } });
const long = (word: string): string => `${word} `.repeat(150);

/** Records sessions that have everything a store keeps, some of it shared between them, under names that are hard on stores. */
export async function recordMany(reprise: Reprise): Promise<void> {
  await reprise.createSession('empty');
  for (const name of hostile) {
    const session = await reprise.createSession(name, { metadata: { [name]: name } });
    await session.append(say(long('shared by all')));
    await session.fork('main@1', { name });
    await session.branch(name).append(say(`on ${name}`));
  }
  const session = await reprise.createSession('everything');
  await converse(session, 'main');
  await session.state.transaction(async (tx) => tx.write('plan', { first: long('plan') }));
  await session.state.as('other').transaction(async (tx) => tx.write('plan', 1));
  await change(session);
  await session.append(say('The secret is 4711-4711.'));
  await converse(session, 'main', 'The secret is 4711-4711.');
  const { head } = await session.locate();
  await session.erase({ seq: head - 4 });
  await converse(session, 'child');
  await session.branch('grandchild').append(say('\u0000 \ud83d\ude00 "last"'));
}

/** Two calls whose requests go on from each other, also as raw bodies; then what was said. */
async function converse(session: Session, branch: string, more = ''): Promise<void> {
  const messages = [
    { role: 'user', content: long('apples') },
    ...(more === '' ? [] : [{ role: 'user', content: more }]),
  ];
  for (const call of [`${branch}-1${more}`, `${branch}-2${more}`]) {
    const about = { call, kind: 'model', name: 'm' };
    messages.push({ role: 'user', content: `short ${messages.length}` });
    const request = {
      messages: [...messages],
      body: JSON.stringify({ messages, pad: 'x'.repeat(900) }),
      system: long('system'),
    };
    await session.branch(branch).append({ type: 'call.started', run: 'r', agent: 'a', data: { ...about, request } });
    const message = { role: 'assistant', content: long(`answer ${call}`) };
    await session
      .branch(branch)
      .append({ type: 'call.ended', run: 'r', agent: 'a', data: { ...about, outcome: 'ok', message } });
  }
}

async function change(session: Session): Promise<void> {
  await session.fork('main@3', {
    name: 'child',
    prompt: long('another prompt'),
    reason: long('because'),
    metadata: { a: long('b') },
  });
  await session.branch('child').append([say('one'), say('two')]);
  await session.fork('child@6', { name: 'grandchild', model: 'large' });
  await session.branch('grandchild').edit({ kind: 'insert', after: 2, event: say(long('inserted')) });
  await session.branch('child').revert(6);
  await session.branch('child').redo();
  await session.branch('child').rewind(5);
  await session.branch('child').append(say('after the rewind'));
}
