import fc from 'fast-check';
import { describe, it } from 'vitest';
import { createNodePlatform, openMemoryStore, openReprise } from '../../src/index.ts';
import { ConversationRun, type Habit, type TalkCommand } from './conversation-run.ts';

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

/** Several writers on one store: what one remembers having stored, the others do not. */
async function runAll(habit: Habit, commands: readonly TalkCommand[]): Promise<void> {
  const platform = createNodePlatform();
  const store = openMemoryStore({ platform });
  const writers = await Promise.all([1, 2, 3].map(() => openReprise({ store, platform, snapshotEvents: 2 })));
  const [first] = writers;
  const { id } = (await first?.createSession()) ?? { id: '' };
  const run = new ConversationRun(await Promise.all(writers.map((reprise) => reprise.session(id))), habit);
  for (const one of commands) await run.run(one);
  if (first !== undefined) await run.checkAll(first);
  await store.close();
}

describe('conversations that several writers record, edited, forked and rewound in any order', () => {
  const numRuns = Number(process.env['REPRISE_RUNS'] ?? 40);

  it('I6 an edited message is edited in every list that holds it, and in no other, when many say the same', () =>
    fc.assert(
      fc.asyncProperty(histories, (commands) => runAll('repeating', commands)),
      { numRuns },
    ));

  it('I6 an edited message is edited in every list that holds it when lists leave their beginning out', () =>
    fc.assert(
      fc.asyncProperty(histories, (commands) => runAll('shortening', commands)),
      { numRuns },
    ));
});
