import { describe, expect, test } from 'vitest';
import { RepriseError } from '../error.ts';
import { parseVariants } from './variants.ts';

describe('parseVariants()', () => {
  test('reads a list, an object, and the text of either', () => {
    const variants = [{ name: 'as-is' }, { name: 'brief', system: 'Be brief.', settings: { temperature: 0 } }];
    expect(parseVariants(variants)).toEqual({ variants });
    expect(parseVariants(JSON.stringify(variants))).toEqual({ variants });
    const file = { variants, repeats: 3, parallel: 2, check: 'npm test', budget: { modelCalls: 9 }, effects: 'reuse' };
    expect(parseVariants(JSON.stringify(file))).toEqual(file);
  });

  test('a variant may have every change there is', () => {
    const variant = {
      name: 'all',
      prompt: 'p',
      system: 's',
      model: 'm',
      tools: [{ name: 'refund' }],
      settings: {},
      edits: [{ kind: 'drop', seq: 4 }],
      with: 'support',
      run: { maxRetries: 2 },
    };
    expect(parseVariants([variant]).variants).toEqual([variant]);
  });

  const wrong: readonly (readonly [string, unknown, RegExp])[] = [
    ['no JSON', '{', /it is not JSON/],
    ['neither an object nor an array', 7, /neither an object nor an array/],
    ['no variants', { repeats: 3 }, /"variants" is missing/],
    ['an empty list', [], /"variants" is empty/],
    ['a variant that is not an object', ['a'], /"variants\[0\]" is not an object/],
    ['a variant without a name', [{ prompt: 'x' }], /"variants\[0\]\.name" is not a name/],
    ['a name twice', [{ name: 'a' }, { name: 'a' }], /"variants\[1\]\.name" is "a" again/],
    ['a misspelt field', [{ name: 'a', promt: 'x' }], /"variants\[0\]\.promt" is not a field/],
    ['a field of a prototype', [{ name: 'a', toString: 'x' }], /"variants\[0\]\.toString" is not a field/],
    ['a prompt that is not text', [{ name: 'a', prompt: 7 }], /"variants\[0\]\.prompt" is not a string/],
    ['an edit without a kind', [{ name: 'a', edits: [{}] }], /"variants\[0\]\.edits\[0\]\.kind" is not a string/],
    ['no repeats', { variants: [{ name: 'a' }], repeats: 0 }, /"repeats" is not a whole number/],
    ['an endless budget', { variants: [{ name: 'a' }], budget: { costUsd: Infinity } }, /"budget\.costUsd" is not/],
    ['an unknown effect class', { variants: [{ name: 'a' }], effects: { classes: { bad: 'run' } } }, /classes\.bad/],
    ['an unknown action', { variants: [{ name: 'a' }], effects: { names: { pay: 'maybe' } } }, /names\.pay/],
  ];
  test.each(wrong)('%s is refused, and the message names the field', (_title, input, message) => {
    try {
      parseVariants(input);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(RepriseError);
      expect((error as RepriseError).code).toBe('experiment.invalid');
      expect((error as RepriseError).message).toMatch(message);
    }
  });
});
