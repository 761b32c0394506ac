/**
 * Works on a store in a process of its own. Its arguments say how, and it prints what it did.
 *
 *   node worker.ts append PATH COUNT NAME     appends one event at a time, printing the seq of each acknowledged one
 *   node worker.ts race PATH COUNT NAME       appends at the head it last saw, again and again, until COUNT were written
 *   node worker.ts tail PATH THROUGH          prints each head it is woken for, up to THROUGH
 *   node worker.ts hold PATH                  holds the write lock until its input ends, printing when it has it
 */
import { once } from 'node:events';
import { type Seq, seq } from '../../../src/core/point.ts';
import type { AppendRequest, EventStore } from '../../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../../src/node/platform.ts';
import { Database } from '../../../src/store/sqlite/database.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';

const platform = createNodePlatform();
const ref = { namespace: 'default', session: 'demo' };
const [verb, path = '', count = '0', name = ''] = process.argv.slice(2);

function request(text: string, condition: AppendRequest['condition']): AppendRequest {
  const event = {
    id: platform.newId(),
    time: platform.now(),
    type: 'note.added',
    version: 1,
    agent: name,
    data: JSON.stringify({ text }),
    keys: [],
  };
  return { ...ref, target: { kind: 'branch', branch: 'main' }, events: [event], parts: [], condition };
}

async function appendAll(store: EventStore): Promise<void> {
  for (let index = 0; index < Number(count); index++) {
    const [outcome] = await store.append([request(`${name}${index}`, { kind: 'any' })]);
    if (outcome?.ok !== true) throw outcome?.error ?? new Error('There is no outcome');
    console.log(outcome.events[0]?.seq);
  }
}

async function race(store: EventStore): Promise<void> {
  let conflicts = 0;
  for (let written = 0; written < Number(count); ) {
    const head = (await store.branch({ ...ref, branch: 'main' }))?.head ?? seq(0);
    const [outcome] = await store.append([request(`after ${head}`, { kind: 'head', seq: head })]);
    if (outcome?.ok === true) written++;
    else if (outcome?.error.code === 'append.conflict') conflicts++;
    else throw outcome?.error ?? new Error('There is no outcome');
  }
  console.log(JSON.stringify({ conflicts }));
}

async function tail(store: EventStore): Promise<void> {
  for await (const head of store.watch({ ...ref, branch: 'main' }, 0 as Seq, new AbortController().signal)) {
    console.log(head);
    if (head >= Number(count)) return;
  }
}

if (verb === 'hold') {
  const database = new Database({ location: path, readOnly: false });
  database.exec('BEGIN IMMEDIATE');
  console.log('held');
  await once(process.stdin.resume(), 'end');
  database.exec('COMMIT');
  database.close();
} else {
  const store = await openSqliteStore({ path, platform });
  await { append: appendAll, race, tail }[verb as 'append' | 'race' | 'tail'](store);
  await store.close();
}
