import { expect, it } from 'vitest';
import { RepriseError } from '../../../core/error.ts';
import { clockAtStart } from '../../../core/event/clock.ts';
import type { Digest, Seq } from '../../../core/point.ts';
import { createNodePlatform } from '../../../node/platform.ts';
import { note, request } from '../../../testing/contract/contract-case.ts';
import type { Connection } from '../connection.ts';
import type { Database } from '../database.ts';
import { AppendQueue } from './append-queue.ts';
import { ForwardWriter } from './forward-writer.ts';
import { Heads, type KnownBranch } from './heads.ts';

const ref = { namespace: 'default', session: 'demo' };
const known: KnownBranch = {
  session: { namespaceId: 1, id: 1 },
  id: 1,
  state: {
    branch: 'main',
    history: { root: 'main', markers: [], head: 1 as Seq },
    digest: 'a'.repeat(64) as Digest,
    epoch: 0 as Seq,
    turn: 0,
  },
  eventBytes: 0,
  clock: clockAtStart,
};

it('sends nothing any more once a group has failed, so that what was appended first is stored first', async () => {
  const heads = new Heads();
  heads.advance(ref, known);
  const mistrust = heads.mistrust.bind(heads);
  heads.mistrust = (sessions) => {
    mistrust(sessions);
    // As an erasure of this process does in that very moment.
    heads.advance(ref, known);
  };
  const queue = new AppendQueue();
  const add = (text: string): void =>
    queue.add({
      request: request(ref, [note(text)]),
      deadline: Number.POSITIVE_INFINITY,
      settle: () => {},
      tried: new Set(),
    });
  let sent = 0;
  const run = async (): Promise<void> => {
    sent++;
    add('second');
    await new Promise((resolve) => setTimeout(resolve, 1));
    throw new RepriseError('store.failed', 'Cannot use the store: not the head', { details: { postgres: '22012' } });
  };
  const connection = { run, schemaKnown: 1 } as unknown as Connection;
  const database = { use: (work: (held: Connection) => Promise<void>) => work(connection) } as unknown as Database;
  add('first');
  const writer = new ForwardWriter(database, heads, { platform: createNodePlatform(), onCommit: () => {} });
  await writer.flush(queue);
  expect(sent).toBe(1);
  expect(queue.take().map(({ request: held }) => held.events[0]?.data)).toEqual([
    '{"text":"first"}',
    '{"text":"second"}',
  ]);
});
