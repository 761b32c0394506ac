/** Each verb looks a place up once, and reads an event once: how often it asks its store is counted. */
import { beforeEach, expect, test } from 'vitest';
import { createReprise } from '../../src/engine/reprise-parts.ts';
import {
  conversation,
  createNodePlatform,
  openMemoryStore,
  parseRef,
  type Reprise,
  type Session,
} from '../../src/index.ts';
import { type Calls, countingStore } from './counting-store.ts';

const question = { type: 'message.added', data: { message: { role: 'user', content: 'Refund order 7.' } } };
const note = (text: string) => ({ type: 'note.added', data: { text } });

let reprise: Reprise;
let session: Session;
let calls: Calls;

/** A session with `main` (a question and two notes), `x` forked from it, and `y` forked from `x`. */
beforeEach(async () => {
  const platform = createNodePlatform();
  const counted = countingStore(openMemoryStore({ platform }));
  calls = counted.calls;
  reprise = createReprise({ store: counted.store, platform });
  session = await reprise.createSession('demo');
  await session.append([question, note('a'), note('b')]);
  await (await session.fork('main@2', { name: 'x' })).append(note('c'));
  await (await session.fork('x', { name: 'y' })).append(note('d'));
});

async function asked(work: () => Promise<unknown>): Promise<Partial<Calls>> {
  const before = { ...calls };
  await work();
  const made = Object.entries(calls).map(
    ([name, count]) => [name, count - (before[name as keyof Calls] ?? 0)] as const,
  );
  return Object.fromEntries(made.filter(([, count]) => count > 0));
}

test('fork() looks its point up once, and reads only the event it grows from', async () => {
  expect(await asked(() => session.fork('main', { name: 'f' }))).toEqual({ branch: 1, latest: 1, read: 1, append: 1 });
});

test('fork() in the past reads the digest of its point and the turn it begins in', async () => {
  expect(await asked(() => session.fork('main@2', { name: 'f' }))).toEqual({
    branch: 1,
    latest: 1,
    read: 2,
    append: 1,
  });
});

test('fork() without a name asks once more, whether the name is free', async () => {
  expect(await asked(() => session.fork('main'))).toEqual({ branch: 1, branchHead: 1, latest: 1, read: 1, append: 1 });
});

test('fork() with a prompt folds the conversation and reads the message it replaces once', async () => {
  const made = await asked(() => session.fork('main', { name: 'f', prompt: 'Refund order 8.' }));
  expect(made).toEqual({ branch: 1, latest: 1, session: 1, snapshots: 1, read: 3, append: 1 });
});

test('fold() looks up its branch once, however deep it was forked', async () => {
  expect(await asked(() => session.at('y').fold(conversation))).toEqual({
    branch: 1,
    session: 1,
    snapshots: 1,
    read: 1,
  });
});

test('replay() looks up its branch once, and reads a short history in one page', async () => {
  const read = async (): Promise<void> => {
    for await (const _ of session.at('y').replay());
  };
  expect(await asked(read)).toEqual({ branch: 1, read: 1 });
});

test('diff() looks up each side once, and reads again only the events that changed', async () => {
  const made = await asked(() => reprise.diff('demo', 'demo/y'));
  // The beginning both have, what each has after it, and on each side the events of the changed pair.
  expect(made).toEqual({ branch: 2, read: 5 });
  expect(await asked(() => reprise.diff(parseRef('demo@2'), parseRef('demo/x@2')))).toEqual({ branch: 2, read: 1 });
});

test('edit(), rewind(), revert() and redo() look up their branch once', async () => {
  const drop = { kind: 'drop', seq: 2 } as const;
  expect((await asked(() => session.branch('y').edit(drop))).branch).toBe(1);
  // It also looks for an edit that appended, at the id of the change it takes back, and whether a claim comes back.
  expect(await asked(() => session.branch('y').redo())).toEqual({ branch: 1, latest: 1, read: 2, append: 1 });
  expect(await asked(() => session.branch('y').rewind(2))).toEqual({ branch: 1, append: 1 });
  expect((await asked(() => session.revert(2))).branch).toBe(1);
});

test('branch(), at() and the surfaces of what they return ask for nothing until their first verb', async () => {
  const handles = async (): Promise<unknown> =>
    [session.branch('y'), session.at('y@2'), session.at('nowhere'), session.branch('nowhere')].map((look) => [
      look.state,
      look.beliefs,
      look.fleet,
      look.coding,
      look.as('a').state,
    ]);
  expect(await asked(handles)).toEqual({});
  expect(await asked(() => session.branch('y').locate())).toEqual({ branch: 1 });
});

test('a look finds its place once, and a branch at each verb', async () => {
  const [look, branch] = [session.at('y'), session.branch('y')];
  expect((await asked(() => look.fold(conversation))).branch).toBe(1);
  // Beliefs ask for the head, too: the process keeps the fleet of the head, and reads on from there.
  for (const verb of [() => look.fold(conversation), () => look.metadata(), () => look.fingerprint()])
    expect((await asked(verb)).branch).toBeUndefined();
  for (const verb of [() => branch.fold(conversation), () => branch.metadata(), () => branch.fingerprint()])
    expect((await asked(verb)).branch).toBe(1);
});
