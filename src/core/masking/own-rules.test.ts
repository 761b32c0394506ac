import { describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../node/platform.ts';
import type { EventDraft } from '../event/event.ts';
import type { JsonInput } from '../json.ts';
import { limits } from '../limits.ts';
import { createMaskKey } from './mask.ts';
import { createMasker, type Masker } from './masking.ts';
import { isPlainPattern } from './own-rules.ts';

const { sha256, runWithin } = createNodePlatform();
const key = createMaskKey({ sha256, key: 'k', seed: 's' });
const event = (data: JsonInput): EventDraft => ({ type: 'x.happened', data });

/** Stops the first so many walks as a clock would, so that no test waits for one. */
function stopping(times: number): { readonly masker: Masker; readonly walks: () => number } {
  let walks = 0;
  const rules = [
    { name: 'slow', pattern: /(a+)+$/ },
    { name: 'quick', pattern: /b\d/ },
  ];
  const masker = createMasker(
    { rules },
    {
      key,
      runWithin: (ms, body) => {
        expect(ms).toBe(limits.ownPatternMsMax);
        body();
        return ++walks > times;
      },
    },
  );
  return { masker, walks: () => walks };
}

describe('the patterns of a user', () => {
  test('I9 one that would never end is stopped; its text is masked whole, the rest as always, and the caller learns of it', () => {
    const rules = [{ name: 'slow', pattern: /(a+)+$/ }];
    const errors: Error[] = [];
    const text = `${'a'.repeat(60)}!`;
    const mask = createMasker({ rules }, { key, runWithin });
    const { data } = mask(event({ text, note: 'pwd=abc' }), (error) => errors.push(error));
    expect(JSON.stringify(data)).not.toMatch(/aaa|abc/);
    expect(data?.['masked']).toEqual(['secret-field', 'slow']);
    expect(errors).toEqual([expect.objectContaining({ code: 'limit.exceeded' })]);
    expect(errors[0]?.message).toMatch(/"slow".*ownPatternMsMax/);
    // The same text is known from now on.
    expect(mask(event({ text }), (error) => errors.push(error)).data?.['text']).toBe(data?.['text']);
    expect(errors).toHaveLength(1);
  });

  test('an event on which they are stopped too often is not masked at all, so nothing of it is stored', () => {
    const { masker, walks } = stopping(limits.ownPatternTriesMax);
    const told: Error[] = [];
    expect(() => masker(event({ a: 'b1' }), (error) => told.push(error))).toThrow(/ownPatternMsMax/);
    expect([walks(), told.length]).toEqual([limits.ownPatternTriesMax, limits.ownPatternTriesMax - 1]);
  });

  test('those that cannot take long run without a watch', () => {
    const runs: number[] = [];
    const rules = [{ name: 'plain', pattern: /\bORD-\d{6}\b/i }];
    const mask = createMasker({ rules }, { key, runWithin: (ms) => runs.push(ms) > 0 });
    expect(mask(event({ text: 'ord-123456' })).data?.['masked']).toEqual(['plain']);
    expect(runs).toEqual([]);
  });

  test.each([/CUST-\d+/, /\bORD-\d{6}\b/, /pin is (\d+)/, /[a-z_]{3}x*/, /(?:ab)c/, /A{2}B{1,3}/])(
    'plain: %s',
    (pattern) => {
      expect(isPlainPattern(pattern)).toBe(true);
    },
  );

  test.each([
    /(a+)+$/,
    /\d+-\d+/,
    /a|b/,
    /(?=a)b/,
    /(?<x>a)/,
    /(ab)*/,
    /a+b/,
    /(a)\1/,
    /a*?b/,
    /[a-z]+\b/,
    /a{1,9}b{1,9}/,
  ])('not plain: %s', (pattern) => {
    expect(isPlainPattern(pattern)).toBe(false);
  });

  test('are applied to the names of fields and to numbers too; an empty match masks nothing', () => {
    const rules = [
      { name: 'customer', pattern: /C-\d/ },
      { name: 'card', pattern: /^4\d{7,}$/ },
      { name: 'empty', pattern: /x*/ },
    ];
    const { data } = createMasker(
      { rules },
      { key, runWithin },
    )(event({ 'C-1': 1, card: 4_111_111_111, n: 3, t: 'xx y' }));
    expect(JSON.stringify(data)).not.toMatch(/C-1|4111|xx/);
    expect(data).toMatchObject({ n: 3, masked: ['card', 'customer', 'empty'] });
    expect(data?.['t']).toMatch(/^\[masked empty [0-9a-f-]+\] y$/);
  });
});
