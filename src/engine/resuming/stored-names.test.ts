import { expect, test } from 'vitest';
import { openStage } from '../../../test/contract/recording-stage.ts';
import { runs } from '../../projections/runs.ts';

test('a log from before the rename of turns to modelCalls is read as it was written, and resumed', async () => {
  await using stage = await openStage('memory');
  const resumed = { run: 'r1', framework: 'function', options: { budget: { turns: 3, tokens: 900 } } };
  await stage.session.append([
    { type: 'run.started', run: 'r2', data: { resumed } },
    { type: 'message.added', run: 'r2', data: { message: { role: 'user', content: 'Where is order 8?' } } },
    { type: 'run.ended', run: 'r2', data: { outcome: 'budget' } },
  ]);
  const [run] = (await stage.session.fold(runs)).runs;
  expect(run?.resumed).toEqual(resumed);
  expect((await stage.events())[0]?.data['resumed']).toEqual(resumed);
  const branch = await stage.session.fork('main', { name: 'again' });
  const { modelCalls, result } = await branch.resume(async ({ recorder }) =>
    recorder.call({ kind: 'model', name: 'small-1' }, () => 'On its way.'),
  );
  expect([modelCalls, result]).toEqual([1, 'On its way.']);
});
