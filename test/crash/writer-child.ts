// Writes to a store until it is killed: node writer-child.ts PATH SEED ROUND [--migrating]
// Each operation is announced before it begins and acknowledged when its promise has resolved, a line of JSON each.

import { writeSync } from 'node:fs';
import { createNodePlatform, type EventDraft, type Session, summary } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import { migrations } from '../../src/store/sqlite/schema.ts';
import { openMigratedStore } from '../../src/store/sqlite/sqlite-store.ts';
import { growingMigrations } from './growing-migrations.ts';
import { Random } from './random.ts';
import { secretOf, tally } from './writer-report.ts';

const [path = '', seed = '0', round = '0', mode] = process.argv.slice(2);
const random = new Random(Number(seed));

function report(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

const platform = createNodePlatform();
const store = await openMigratedStore({ path, platform }, mode === '--migrating' ? growingMigrations : migrations);
const reprise = await openWith({ store, platform }, { snapshotEvents: 8 });
const session = await reprise.session('demo', { create: true });
report({ kind: 'opened' });

const branches = new Set(['main']);
let count = 0;

/** Events of one batch say how many they are, so that half a batch is noticed. */
function batch(size: number): EventDraft[] {
  const name = `${round}-${count}`;
  return Array.from({ length: size }, (_, index): EventDraft => {
    const data = { batch: name, index, size };
    switch (random.below(4)) {
      case 0:
        return {
          type: 'state.committed',
          data: {
            ...data,
            operations: [{ agent: 'a', key: `k${random.below(5)}`, op: 'write', value: name, version: 1 }],
          },
        };
      case 1: {
        const messages = Array.from({ length: 1 + random.below(6) }, (__, at) => ({
          role: 'user',
          content: `${at} of ${round} `.repeat(60),
        }));
        return {
          type: 'call.started',
          run: `r${round}`,
          data: {
            ...data,
            call: `c${name}-${index}`,
            kind: 'model',
            name: 'm',
            request: { messages, body: JSON.stringify(messages) },
          },
        };
      }
      case 2:
        return { type: 'note.added', data: { ...data, text: 'n'.repeat(random.below(20_000)) } };
      default:
        return { type: 'note.added', data: { ...data, text: 'short' } };
    }
  });
}

async function append(held: Session): Promise<void> {
  const branch = random.pick([...branches]);
  const size = random.pick([1, 1, 2, 5, 60]);
  const events = await held.branch(branch).append(batch(size));
  report({ kind: 'appended', branch, events: events.map(({ seq, id, digest }) => ({ seq, id, digest })) });
}

async function fork(held: Session): Promise<void> {
  const from = random.pick([...branches]);
  const { head } = await held.at(from).locate();
  const name = `f${round}-${count}`;
  const edits = head === 0 ? [] : [{ kind: 'append' as const, event: { type: 'note.added', data: { text: name } } }];
  const more = Array.from({ length: edits.length * random.below(20) }, (_, index) => ({
    kind: 'insert' as const,
    after: 0,
    event: { type: 'note.added', data: { text: `${name} ${index}`.repeat(80) } },
  }));
  report({ kind: 'forking', branch: name, events: 1 + edits.length + more.length });
  const branch = await held.fork(from, { name, edits: [...more, ...edits] });
  branches.add(name);
  report({ kind: 'forked', branch: name, head: branch.head });
}

async function look(held: Session): Promise<void> {
  const branch = random.pick([...branches]);
  await held.branch(branch).fold(tally);
  await held.branch(branch).fold(summary);
  report({ kind: 'looked' });
}

async function mark(held: Session): Promise<void> {
  const branch = random.pick([...branches]);
  const { head } = await held.at(branch).locate();
  const { marker } = await held.branch(branch).rewind(random.below(head + 1));
  report({ kind: 'appended', branch, events: [{ seq: marker.seq, id: marker.id, digest: marker.digest }] });
}

async function erase(held: Session): Promise<void> {
  const text = secretOf(`${round}-${count}`);
  // Long enough to have pages of its own, which an erasure sets free.
  const [event] = await held.append({ type: 'note.added', data: { text: `${text}. `.repeat(400) } });
  report({ kind: 'erasing', text });
  await held.erase({ branch: 'main', seq: event?.seq ?? 0 });
  report({ kind: 'erased', text, seq: event?.seq });
}

const work = [append, append, append, append, append, append, fork, fork, look, mark, erase];
for (; ; count++) await random.pick(work)(session);
