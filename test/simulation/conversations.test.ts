import fc from 'fast-check';
import { describe, it } from 'vitest';
import { createNodePlatform, openMemoryStore, openSqliteStore } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import type { EventStore } from '../../src/store.ts';
import { ConversationRun, type Habit, type TalkCommand } from './conversation-run.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';

const kind = fc.constantFrom<TalkCommand[0][]>(
  'say',
  'say',
  'call',
  'call',
  'call',
  'change',
  'change',
  'drop',
  'fork',
  'rewind',
);
const command: fc.Arbitrary<TalkCommand> = fc.tuple(kind, fc.nat(20), fc.nat(3), fc.nat(60), fc.nat(3));
const histories = fc.array(command, { minLength: 1, maxLength: 40, size: 'max' });

const platform = createNodePlatform();

/** Several writers on one store: what one remembers having stored, the others do not. */
async function runAll(stores: readonly EventStore[], habit: Habit, commands: readonly TalkCommand[]): Promise<void> {
  const writers = await Promise.all(stores.map((store) => openWith({ store, platform }, { snapshotEvents: 2 })));
  const [first] = writers;
  const { id } = (await first?.createSession()) ?? { id: '' };
  const run = new ConversationRun(await Promise.all(writers.map((reprise) => reprise.session(id))), habit);
  for (const one of commands) await run.run(one);
  if (first !== undefined) await run.checkAll(first);
  for (const reprise of writers) await reprise.close();
}

async function inMemory(habit: Habit, commands: readonly TalkCommand[]): Promise<void> {
  const store = openMemoryStore({ platform });
  await runAll([store, store, store], habit, commands);
}

/** Each writer has a connection of its own, as processes have. */
async function inFile(path: string, habit: Habit, commands: readonly TalkCommand[]): Promise<void> {
  const open = (): Promise<EventStore> => openSqliteStore({ path, platform, durability: 'process' });
  await runAll([await open(), await open(), await open()], habit, commands);
}

describe('conversations that several writers record, edited, forked and rewound in any order', () => {
  it('I6 an edited message is edited in every list that holds it, and in no other, when many say the same', () =>
    fc.assert(
      fc.asyncProperty(histories, (commands) => inMemory('repeating', commands)),
      { numRuns: runCount() },
    ));

  it('I6 an edited message is edited in every list that holds it when lists leave their beginning out', () =>
    fc.assert(
      fc.asyncProperty(histories, (commands) => inMemory('shortening', commands)),
      { numRuns: runCount() },
    ));

  it.each<Habit>(['repeating', 'shortening'])(
    'I6 the same holds for writers with a SQLite connection each (%s)',
    (habit) =>
      onFreshFiles((freshPath) =>
        fc.assert(
          fc.asyncProperty(histories, (commands) => inFile(freshPath(), habit, commands)),
          { numRuns: runCount(1 / 4) },
        ),
      ),
  );
});
