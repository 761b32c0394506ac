/** Verbs that a program without types calls with something else: each refuses it in words, and none with a raw TypeError. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Branch, openReprise, type Reprise, RepriseError, type Session } from '../../src/index.ts';

const wrong: readonly (readonly [string, unknown])[] = [
  ['a number', 42],
  ['null', null],
  ['true', true],
  ['a list', []],
  ['an empty object', {}],
  ['a trace of shipit', { events: [] }],
  ['a big integer', 10n],
  ['a symbol', Symbol('x')],
];

let reprise: Reprise;
let session: Session;
let branch: Branch;

beforeEach(async () => {
  reprise = await openReprise('memory:');
  session = await reprise.createSession('s');
  await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Hi' } } });
  branch = await session.fork('main@1', { name: 'b' });
});
afterEach(() => reprise.close());

/** Calls with a wrong value; takes what an async iterator gives first. */
async function outcomeOf(call: () => unknown): Promise<unknown> {
  try {
    const given = await call();
    if (typeof given === 'object' && given !== null && Symbol.asyncIterator in given)
      await (given as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.each(wrong)('%s', (_, value) => {
  const bad = value as never;

  test.each<[string, () => unknown]>([
    ['as a side of a diff', () => reprise.diff('s', bad)],
    ['as a ref', () => reprise.resolve(bad)],
    ['as the ref of an export', () => reprise.at(bad).export({ format: 'shipit' }).text()],
    ['as the target of a copy', () => reprise.copy(bad)],
    ['as a projection', () => session.fold(bad)],
    ['as an edit', () => branch.edit(bad)],
    ['as the work of a transaction', () => session.state.transaction(bad)],
  ])('is refused %s', async (__, call) => {
    expect(await outcomeOf(call)).toBeInstanceOf(RepriseError);
  });

  test.each<[string, () => unknown]>([
    ['diff', () => reprise.diff('s', 's', bad)],
    ['a strict diff', () => reprise.diff('s', 's', { strict: bad } as never)],
    ['export', () => session.export(bad).text()],
    ['sessions', () => reprise.sessions(bad)],
    ['replay of everything', () => reprise.replay(bad)],
    ['record', () => session.record(bad)],
    ['replay', () => session.replay(bad)],
    ['find', () => session.find(bad)],
    ['fork', () => session.fork('main@1', bad)],
    ['rewind', () => session.rewind(1, bad)],
    ['verify', () => session.verify(bad)],
    ['append to a branch', () => branch.append([], bad)],
    ['begin', () => session.state.begin(bad)],
    ['keys', () => session.state.keys('', bad)],
    ['a prefix of keys', () => session.state.keys(bad)],
    ['state replay', () => session.state.replay(bad)],
    ['state diff', () => session.state.diff(session, bad)],
  ])('as the options of %s gives no raw error', async (__, call) => {
    const error = await outcomeOf(call);
    if (error !== undefined) expect(error).toBeInstanceOf(RepriseError);
  });
});

test('a diff refuses options that it would ignore, and says what to do', async () => {
  await expect(reprise.diff('s', 's/b', { strict: true, states: [] })).rejects.toMatchObject({
    code: 'option.invalid',
    hint: expect.stringContaining('Leave out "strict"'),
  });
  await expect(reprise.diff('s', 's/b', { format: 'shipit' } as never)).rejects.toMatchObject({
    code: 'option.invalid',
    hint: 'Add strict: true.',
  });
  await expect(reprise.diff('s', 42 as never)).rejects.toMatchObject({
    code: 'ref.invalid',
    message: 'Cannot read "42" as a ref: it is not text',
  });
});

test('a ref in its parts is read like its text', async () => {
  const at = { kind: 'seq', seq: 1 } as never;
  expect(await reprise.resolve({ session: 's', branch: 'b', at })).toEqual(await reprise.resolve('s/b@1'));
  await expect(reprise.resolve({ session: 's', branch: 'b', at: { kind: 'x' } as never })).rejects.toMatchObject({
    code: 'ref.invalid',
  });
});
