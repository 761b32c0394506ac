import { expect, test } from 'vitest';
import { openStage } from '../../../test/contract/recording-stage.ts';

test('a call that a model call asks for is inside it, in the same run alone; its turn is the same in any run', async () => {
  await using stage = await openStage('memory');
  const recorder = await stage.session.record({ facts: false });
  const tool = (call: string) => ({ kind: 'tool', name: 'look', call, effect: 'pure' }) as const;
  await recorder.run({ run: 'r1' }, async () => {
    const model = await recorder.startCall({ kind: 'model', name: 'm', call: 'model' });
    model.asksFor('now');
    await recorder.call(tool('now'), () => 1);
    model.end({ message: { role: 'assistant', content: [] } });
    model.asksFor('later');
    await recorder.call(tool('other'), () => 1);
  });
  recorder.message({ role: 'user', content: 'Go on.' });
  await recorder.run({ run: 'r2' }, () => recorder.call(tool('later'), () => 1));
  await recorder.close();
  const starts = (await stage.events()).filter(({ type }) => type.endsWith('.started'));
  const causeOf = (call: string): unknown => {
    const found = starts.find(({ data }) => data['call'] === call);
    const cause = starts.find(({ id }) => id === found?.cause);
    return [cause?.data['call'] ?? cause?.run, found?.turn];
  };
  expect([causeOf('now'), causeOf('other'), causeOf('later')]).toEqual([
    ['model', 1],
    ['r1', 1],
    ['r2', 1],
  ]);
});
