import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type EventDraft, openReprise, type Verification } from '../../src/index.ts';

const secret = 'My card number is 4111 1111 1111 1111.';

const note = (text: string, more: Partial<EventDraft> = {}): EventDraft => ({
  type: 'note.added',
  data: { text },
  ...more,
});
const words = (topic: string): string => `${topic} `.repeat(120);
const user = (content: string): { role: string; content: string } => ({ role: 'user', content });

function modelCall(call: string, messages: readonly unknown[]): EventDraft {
  const body = JSON.stringify({ model: 'm', messages });
  return {
    type: 'call.started',
    run: 'r',
    agent: 'ann',
    data: { call, kind: 'model', name: 'm', request: { messages, body } },
  } as EventDraft;
}

/**
 * A session with everything that can be tampered with. `main` has twelve events: notes with a cause (1, 2), two model
 * calls with linked lists, bodies and shared parts (3 to 5), state (6), an erased note (7), a revert (9), an erasure
 * (11). `x` is forked at main@6 with an edit (7, 8) and goes on (9); `y` is forked at x@9 and goes on (10, 11);
 * `z` is forked where `x` is.
 */
export async function recordStore(path: string): Promise<void> {
  await using reprise = await openReprise({ store: `sqlite:${path}`, durability: 'process' });
  const session = await reprise.createSession('demo');
  const [first] = await session.append(note('first', { agent: 'ann', run: 'r', turn: 1 }));
  await session.append(note('second', { cause: first?.id ?? '', agent: 'ann', run: 'r', turn: 2 }));
  const opening = [user(words('apples')), user('short')];
  await session.append(modelCall('c1', opening));
  await session.append({
    type: 'call.ended',
    data: {
      call: 'c1',
      kind: 'model',
      name: 'm',
      outcome: 'ok',
      message: { role: 'assistant', content: words('pears') },
    },
  });
  await session.append(modelCall('c2', [...opening, user(words('plums'))]));
  await session.append({
    type: 'state.committed',
    data: { operations: [{ agent: 'default', key: 'plan', op: 'write', value: 'ask', version: 1 }] },
  });
  const x = await session.fork('main@6', {
    name: 'x',
    edits: [{ kind: 'replace', seq: 2, event: { data: { text: 'second, edited' } } }],
  });
  await x.append(note('on x'));
  const y = await session.fork('x@9', { name: 'y' });
  await y.append(note('on y'));
  await session.fork('main@6', { name: 'z' });
  await session.append([note(secret), note('eighth')]);
  await session.revert(2);
  await session.append(note('tenth'));
  await session.erase('main@7');
  await session.append(note('twelfth'));
}

/** A recorded store, copied for each look so that no damage is seen twice. */
export interface RecordedStore extends Disposable {
  /** Digests of the heads, as someone would have kept them elsewhere. */
  readonly heads: Readonly<Record<'main' | 'x' | 'y', string>>;
  /** Runs SQL on a fresh copy of the file and verifies a branch of it. */
  readonly verifyAfter: (
    sql: string,
    options?: { readonly at?: string; readonly head?: string },
  ) => Promise<Verification>;
  /** Runs SQL on a fresh copy of the file and gives its path. */
  readonly copyAfter: (sql: string) => string;
}

/** Records a store in a directory of its own. */
export async function openRecordedStore(): Promise<RecordedStore> {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-tamper-'));
  const template = join(directory, 'template.db');
  await recordStore(template);
  const heads = await headsOf(template);
  let count = 0;
  const copyAfter = (sql: string): string => {
    const path = join(directory, `${count++}.db`);
    copyFileSync(template, path);
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
    return path;
  };
  return {
    heads,
    copyAfter,
    verifyAfter: async (sql, options = {}) => {
      await using reprise = await openReprise({ store: `sqlite:${copyAfter(sql)}`, durability: 'process' });
      const session = await reprise.session('demo');
      const { at, ...asked } = options;
      return await (at === undefined ? session : session.at(at)).verify(asked);
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function headsOf(path: string): Promise<RecordedStore['heads']> {
  await using reprise = await openReprise(`sqlite:${path}`);
  const session = await reprise.session('demo');
  const digest = async (branch: string): Promise<string> => (await session.at(branch).locate()).digest;
  return { main: await digest('main'), x: await digest('x'), y: await digest('y') };
}
