import { anything, assert, constantFrom, jsonValue, option, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { type ErrorCode, errorCodes, hasCode, RepriseError } from './error.ts';
import type { JsonObject } from './json.ts';

test('RepriseError.from() is the inverse of toJSON(), over a wire too', () => {
  const codes = constantFrom(...(Object.keys(errorCodes) as ErrorCode[]));
  assert(
    property(codes, string(), option(string(), { nil: undefined }), jsonValue(), (code, message, hint, value) => {
      const error = new RepriseError(code, message, { details: { value } as JsonObject, ...(hint && { hint }) });
      const again = RepriseError.from(JSON.parse(JSON.stringify(error)));
      expect(again).toBeInstanceOf(RepriseError);
      expect(JSON.stringify(again)).toBe(JSON.stringify(error));
      expect(hasCode(again, code)).toBe(true);
    }),
  );
});

test('RepriseError.from() makes a code of a different release "error.unknown", and names it in the details', () => {
  const error = RepriseError.from({ code: 'lane.blocked', message: 'No way', hint: 'Wait.', details: { lane: 1 } });
  expect(error.toJSON()).toEqual({
    code: 'error.unknown',
    message: 'No way',
    hint: 'Wait.',
    details: { lane: 1, code: 'lane.blocked' },
  });
});

test('RepriseError.from() takes no code from the prototype of an object', () => {
  for (const code of ['toString', '__proto__', 'constructor', 'hasOwnProperty'])
    expect(RepriseError.from({ code, message: 'x' }).code).toBe('error.unknown');
});

test('RepriseError.from() never throws, whatever it is given', () => {
  assert(
    property(anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }), (value) => {
      for (const json of [value, { code: value, message: value, hint: value, details: value }]) {
        const error = RepriseError.from(json);
        expect(error).toBeInstanceOf(RepriseError);
        expect(() => JSON.stringify(error)).not.toThrow();
      }
    }),
  );
});

test('RepriseError.from() never throws on objects that resist being read', () => {
  const cyclic: Record<string, unknown> = { code: 'store.busy', message: 'busy' };
  cyclic['details'] = cyclic;
  const trap = (): never => {
    throw new Error('no');
  };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const hostile = [
    cyclic,
    { code: 'store.busy', message: 'busy', details: { toJSON: trap } },
    Object.defineProperty({ code: 'store.busy' }, 'message', { get: trap }),
    new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap }),
    { code: 'store.busy', details: proxy },
    proxy,
  ];
  for (const json of hostile) expect(RepriseError.from(json)).toBeInstanceOf(RepriseError);
  expect(RepriseError.from(cyclic)).toMatchObject({ code: 'store.busy', message: 'busy', details: {} });
});
