import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  conversation,
  type EventDraft,
  openReprise,
  type Reprise,
  runs,
  type Session,
  summary,
} from '../../src/index.ts';

const user = (content: string): { role: string; content: string } => ({ role: 'user', content });

/** A model call with the whole conversation, and its answer. */
function called(call: string, messages: readonly unknown[], answer: string): EventDraft[] {
  const of = { call, kind: 'model', name: 'm' };
  const message = { role: 'assistant', content: answer };
  return [
    { type: 'call.started', run: 'r', agent: 'pay', data: { ...of, request: { messages } } } as EventDraft,
    { type: 'call.ended', run: 'r', agent: 'pay', data: { ...of, outcome: 'ok', message } } as EventDraft,
  ];
}

/** Records a long session with everything that is derived: keys, clocks that lag, markers, snapshots, forks, an erasure. */
async function record(reprise: Reprise): Promise<void> {
  const session = await reprise.createSession('demo', { metadata: { owner: 'ann' } });
  await session.append({ type: 'run.started', run: 'r', agent: 'pay', data: { title: 'Pay the bill' } });
  const messages: unknown[] = [user('Pay 20 to Bob')];
  for (let turn = 1; turn <= 30; turn++) {
    const answer = `I looked at bill ${turn}. ${'It is in order. '.repeat(3)}`;
    await session.append(called(`c${turn}`, messages, answer));
    messages.push({ role: 'assistant', content: answer }, user(`And bill ${turn + 1}?`));
    await session.append({
      type: 'message.added',
      run: 'r',
      agent: 'pay',
      turn,
      data: { message: messages.at(-1) },
    } as EventDraft);
  }
  // Enough that the value of a fold is small beside what it was made from: only then is it kept.
  for (let round = 0; round < 150; round++) {
    const input = Object.fromEntries(Array.from({ length: 8 }, (_, row) => [`row${row}`, `${round} `.repeat(50)]));
    const of = { call: `t${round}`, kind: 'tool', name: 'ledger' };
    await session.append([
      { type: 'call.started', run: 'r', agent: 'pay', data: { ...of, input } },
      { type: 'call.ended', run: 'r', agent: 'pay', data: { ...of, outcome: 'ok', output: 'fine' } },
    ] as EventDraft[]);
  }
  for (const key of ['payee', 'amount', 'plan'])
    await session.state.transaction((tx) => tx.write(key, { payee: 'Bob', amount: 20, plan: 'pay' }[key] ?? null));
  await session.append({ type: 'note.added', time: '2020-01-01T00:00:00.000Z', turn: 1, data: { text: 'late' } });
  await session.append({ type: 'note.added', data: { text: 'a secret that goes' } });
  const child = await session.fork('main@40', { name: 'child', edits: [{ kind: 'drop', seq: 4 }] });
  await child.state.transaction((tx) => tx.write('payee', 'Carol'));
  await (await session.fork('main@40', { name: 'other' })).append({ type: 'note.added', data: { text: 'other' } });
  const secret = await session.findLast({ text: 'a secret that goes' });
  await session.erase(`main@${(await secret?.locate())?.seq ?? 0}`);
  await session.append({ type: 'run.ended', run: 'r', agent: 'pay', data: { outcome: 'ok' } });
  await session.fold(conversation);
  await session.fold(runs);
  await session.fold(summary);
  await session.fingerprint();
  const far = await reprise.namespace('far').createSession('demo');
  await far.state.transaction((tx) => tx.write('payee', 'Dan'));
}

/** A recorded store, copied for each look so that no damage is seen twice. */
export interface PaymentStore extends Disposable {
  /** The file, which nobody changes. */
  readonly template: string;
  /** Copies the file. */
  readonly copy: () => string;
  /** Runs SQL on a fresh copy of the file and gives its path. */
  readonly copyAfter: (sql: string) => string;
}

/** Records a store in a directory of its own. */
export async function openPaymentStore(): Promise<PaymentStore> {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-hostile-'));
  const template = join(directory, 'template.db');
  {
    await using reprise = await openReprise({ store: `sqlite:${template}`, durability: 'process' });
    await record(reprise);
  }
  let count = 0;
  const copy = (): string => {
    const path = join(directory, `${count++}.db`);
    copyFileSync(template, path);
    return path;
  };
  return {
    template,
    copy,
    copyAfter: (sql) => {
      const path = copy();
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
      return path;
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Opens the session `demo` of a store, does something, and closes the store. */
export async function onDemo<Result>(
  path: string,
  work: (session: Session, reprise: Reprise) => Promise<Result>,
): Promise<Result> {
  await using reprise = await openReprise({ store: `sqlite:${path}`, durability: 'process' });
  return await work(await reprise.session('demo'), reprise);
}
