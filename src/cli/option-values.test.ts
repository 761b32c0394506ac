import { expect, test } from 'vitest';
import { collect, flagOption, listOption, numberOption, textOption } from './option-values.ts';

test('options are read as what they are, and as nothing where they were not given', () => {
  const options = { name: 'careful', limit: 0, yes: true, set: collect('b', collect('a')), json: 'lines' };
  expect([textOption(options, 'name'), textOption(options, 'limit'), textOption(options, 'none')]).toEqual([
    'careful',
    undefined,
    undefined,
  ]);
  expect([numberOption(options, 'limit'), numberOption(options, 'name')]).toEqual([0, undefined]);
  expect([flagOption(options, 'yes'), flagOption(options, 'name'), flagOption(options, 'none')]).toEqual([
    true,
    false,
    false,
  ]);
  expect([listOption(options, 'set'), listOption(options, 'none')]).toEqual([['a', 'b'], []]);
});
