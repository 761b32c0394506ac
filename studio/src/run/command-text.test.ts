import { expect, test } from 'vitest';
import { commandFor, filterFlags } from './command-text.ts';

const point = { namespace: 'default', session: 'refund', branch: 'main', seq: 14 };

test('the command shows what is on screen', () => {
  expect(commandFor(point, { filter: '' })).toBe('reprise show refund@14');
  expect(commandFor({ ...point, branch: 'careful' }, { filter: 'kind=tool' })).toBe(
    'reprise replay refund/careful@14 --kind tool',
  );
});

test('filter words become the options of the command line', () => {
  expect(filterFlags('type=call.ended tool="look up" input.order=/^7,8$/ broken mug')).toBe(
    "--event-type call.ended --tool 'look up' --filter 'input.order=^7\\,8$' --search 'broken mug'",
  );
});
