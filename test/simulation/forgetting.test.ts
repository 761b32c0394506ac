import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openWith } from '../../src/open-reprise.ts';
import { type ForgetCommand, ForgettingRun } from './forgetting-run.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';

const kind = fc.constantFrom<ForgetCommand[0][]>(
  'say',
  'say',
  'call',
  'call',
  'state',
  'describe',
  'quote',
  'fork',
  'replace',
  'insert',
  'revert',
  'rewind',
  'redo',
  'erase',
  'erase',
);
const command: fc.Arbitrary<ForgetCommand> = fc.tuple(kind, fc.nat(30), fc.nat(60), fc.nat(11));
const histories = fc.array(command, { minLength: 5, maxLength: 40, size: 'max' });

async function runAll(path: string, commands: readonly ForgetCommand[]): Promise<void> {
  const open = () => openWith({ store: `sqlite:${path}`, durability: 'process' }, { snapshotEvents: 2 });
  const [one, two] = [await open(), await open()];
  const run = new ForgettingRun([await one.createSession('s'), await two.session('s')]);
  for (const each of commands) await run.run(each);
  await run.checkAll();
  await one.close();
  await two.close();
  const bytes = [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => readFileSync(file, 'latin1'));
  for (const text of run.forgotten) expect(bytes.join('').includes(text), `${text} in the file`).toBe(false);
}

describe('what is erased, whoever said it where and quoted it in what', () => {
  const numRuns = runCount(1 / 2);

  it('I6 I8 is nowhere in the file, and every branch verifies and reads the same', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(histories, (commands) => runAll(freshPath(), commands)),
        { numRuns },
      ),
    ));
});
