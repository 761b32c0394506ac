import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';
import { type TimeCommand, TimeRun } from './time-run.ts';

const kind = fc.constantFrom<TimeCommand[0][]>(
  'append',
  'append',
  'append',
  'append',
  'fork',
  'rewind',
  'revert',
  'redo',
  'replace',
);
const clock = fc.constantFrom<TimeCommand[3][]>('rises', 'rises', 'rises', 'stands', 'goes back', 'leaps', 'is lost');
const histories = fc.array(fc.tuple(kind, fc.nat(20), fc.nat(200), clock), {
  minLength: 1,
  maxLength: 14,
  size: 'max',
});

async function runAll(store: string, commands: readonly TimeCommand[]): Promise<void> {
  await using reprise = await openReprise({ store, durability: 'process' });
  const run = new TimeRun(await reprise.createSession());
  for (const one of commands) await run.run(one);
  await run.checkAll();
}

describe('any history by clocks that rise, stand, leap and go back', () => {
  it('finds a time and a turn before the first later event on the memory store', async () => {
    await fc.assert(
      fc.asyncProperty(histories, (commands) => runAll('memory:', commands)),
      { numRuns: runCount() },
    );
  });

  it('finds a time and a turn before the first later event on SQLite', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(histories, (commands) => runAll(`sqlite:${freshPath()}`, commands)),
        { numRuns: runCount(1 / 2) },
      ),
    ));

  it('takes the last moment that can be written, and one before all events', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('demo');
    await session.append({ type: 'note.added', time: '9999-12-31T23:59:59.999Z', data: { text: 'the end' } });
    expect((await session.at('main@time:9999-12-31T23:59:59.999Z').locate()).seq).toBe(1);
    expect((await session.at('main@time:9999-12-31T23:59:59.998Z').locate()).seq).toBe(0);
    expect((await session.at('main@time:0000-01-01').locate()).seq).toBe(0);
  });
});
