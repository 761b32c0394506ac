import assert from 'node:assert/strict';
import type { JsonValue } from '../../src/core/json.ts';
import type { Message } from '../../src/core/message/message.ts';
import type { Session } from '../../src/engine/session.ts';
import { asks, littleAgent, recordLoop, says } from './little-agent.ts';
import { all, note, onSession, refuses, type VerbCase } from './verb-case.ts';

const secret = 'sk-proj-abcDEF1234567890abcDEF1234';

/** Pays once, after a tool was given the password in a field that says so. */
async function paid(session: Session): Promise<{ readonly made: JsonValue[] }> {
  const made: JsonValue[] = [];
  const script = [
    asks('login', { password: 'correct-horse' }, 'c1'),
    asks('pay', { memo: 'with correct-horse', amount: 5 }, 'c2'),
    says('Paid.'),
  ];
  const tools = {
    login: { effect: 'pure', call: () => 'welcome' },
    pay: { effect: 'irreversible', call: (input: JsonValue) => made.push(input) },
  } as const;
  await recordLoop(session, { model: () => script.shift() as Message, tools }, ['Pay.']);
  return { made };
}

/** The cases of `session.masker`, and of calls whose arguments were masked. */
export const masking: readonly VerbCase[] = [
  onSession('masker() masks as a recorder of the session does, and append stores what it is given', async (session) => {
    const mask = await session.masker();
    await session.append([mask(note(`It is ${secret}`)), note(`It is ${secret}`)]);
    const recorder = await session.record({ facts: false });
    recorder.event(note(`It is ${secret}`));
    await recorder.close();
    const [masked, plain, recorded] = await all(session.replay());
    assert.match(String(masked?.data['text']), /^It is \[masked openai-key [0-9a-f]{6}-[0-9a-f]{8}\]$/);
    assert.deepEqual(recorded?.data, masked?.data);
    assert.deepEqual(plain?.data, { text: `It is ${secret}` });
  }),

  onSession('effects: a call is the same although only the recorder of then knew its secret (T10)', async (session) => {
    const { made } = await paid(session);
    const started = (await all(session.replay())).find(
      ({ type, data }) => type === 'call.started' && data['name'] === 'pay',
    );
    assert.doesNotMatch(JSON.stringify(started?.data), /correct-horse/);
    // The branch begins before the call with the password, so its recorder does not know it.
    const pay = { effect: 'irreversible', call: (input: JsonValue) => made.push(input) } as const;
    const asking = (memo: string) => {
      const script = [asks('pay', { memo, amount: 5 }, 'new'), says('Paid.')];
      return littleAgent({ model: () => script.shift() as Message, tools: { pay } });
    };
    const branch = await session.fork('main@2');
    await refuses('effect.refused', () => branch.resume(asking('with correct-horse')));
    assert.equal(made.length, 1);
    // Never recorded with these arguments.
    const other = await session.fork('main@2');
    await other.resume(asking('with wrong-horse'), { effects: { names: { pay: 'run' } } });
    assert.equal(made.length, 2);
  }),
];
