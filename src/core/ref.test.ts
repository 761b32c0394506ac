import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RepriseError } from './error.ts';
import { ownedKey, parseKey, plainKey, prefixEnd, sortKeys } from './event/keys.ts';
import { checkId } from './id.ts';
import { parsePoint, parseRef, pointText, refText } from './ref.ts';
import { isoTime } from './time.ts';
import { compareUtf8, utf8Length } from './utf8.ts';

const encoder = new TextEncoder();
const bytesOrder = (a: string, b: string): number => Buffer.compare(encoder.encode(a), encoder.encode(b));
const text = fc.string({ unit: 'binary' });

describe('parseRef()', () => {
  it.each([
    ['demo', { session: 'demo', branch: 'main', at: { kind: 'head' } }],
    ['demo@12', { session: 'demo', branch: 'main', at: { kind: 'seq', seq: 12 } }],
    ['demo@0', { session: 'demo', branch: 'main', at: { kind: 'seq', seq: 0 } }],
    ['demo/x@head', { session: 'demo', branch: 'x', at: { kind: 'head' } }],
    ['demo@before:12', { session: 'demo', branch: 'main', at: { kind: 'before', seq: 12 } }],
    ['latest@turn:3', { session: 'latest', branch: 'main', at: { kind: 'turn', turn: 3 } }],
    ['demo@run:a%3Ab', { session: 'demo', branch: 'main', at: { kind: 'run', run: 'a:b' } }],
    [
      'a%2Fb/c%40d@time:2026-11-15T10:00:00Z',
      { session: 'a/b', branch: 'c@d', at: { kind: 'time', time: '2026-11-15T10:00:00.000Z' } },
    ],
  ])('reads %s', (ref, expected) => {
    expect(parseRef(ref)).toEqual(expected);
  });

  it.each([
    '',
    '@1',
    '/main',
    'a/b/c',
    'a@',
    'a@-1',
    'a@1.5',
    'a@before:0',
    'a@turn:x',
    'a@what:1',
    'a:b',
    'a%zz',
    'a@time:noon',
    'a@run:',
    'a/latest',
    'list',
  ])('refuses %s', (ref) => {
    expect(() => parseRef(ref)).toThrow(RepriseError);
  });

  it('I7 reads back every ref it writes, whatever is in the ids', () => {
    const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((value) => {
      try {
        checkId('session', value);
        return true;
      } catch {
        return false;
      }
    });
    fc.assert(
      fc.property(id, id, fc.nat(), (session, branch, seq) => {
        const ref = refText({ session, branch, at: { kind: 'seq', seq: seq as never } });
        expect(parseRef(ref)).toEqual({ session, branch, at: { kind: 'seq', seq } });
      }),
    );
  });
});

describe('parsePoint()', () => {
  it('takes strings and objects, on main unless a branch is named', () => {
    expect(parsePoint('@3')).toEqual({ branch: 'main', at: { kind: 'seq', seq: 3 } });
    expect(parsePoint('x')).toEqual({ branch: 'x', at: { kind: 'head' } });
    expect(parsePoint({ branch: 'x', turn: 2 })).toEqual({ branch: 'x', at: { kind: 'turn', turn: 2 } });
    expect(() => parsePoint('demo/main@1')).toThrow(/no session in it/);
    expect(() => parsePoint(7 as never)).toThrow(RepriseError);
  });

  it('takes an object of a different realm, and no list, date or instance of a class', () => {
    expect(parsePoint(Object.assign(Object.create(null), { seq: 2 }))).toEqual({
      branch: 'main',
      at: { kind: 'seq', seq: 2 },
    });
    expect(parsePoint(runInNewContext('({ seq: 2 })'))).toEqual({ branch: 'main', at: { kind: 'seq', seq: 2 } });
    for (const input of [[], new Date(), new Map(), new (class Place {})()])
      expect(() => parsePoint(input as never)).toThrow(/a point/);
    expect(() => parsePoint({ seq: 1, turn: 1 })).toThrow('it names more than one place');
  });
});

describe('ids and keys', () => {
  it('orders text by its UTF-8 bytes, also beyond U+FFFF', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(bytesOrder(a, b));
      }),
    );
    expect(sortKeys(['😀', '\uffff', 'a'])).toEqual(['a', '\uffff', '😀']);
  });

  it('counts bytes as UTF-8 does', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(utf8Length(value)).toBe(encoder.encode(value).length);
      }),
    );
  });

  it('I7 takes an index key apart into what it was made of, and never mixes owners', () => {
    const owner = fc.string({ unit: 'grapheme-ascii', minLength: 1 });
    fc.assert(
      fc.property(owner, text, owner, text, (a, key, b, other) => {
        expect(parseKey(ownedKey('state', a, key))).toEqual({ kind: 'state', owner: a, name: key });
        expect(ownedKey('state', a, key) === ownedKey('state', b, other)).toBe(a === b && key === other);
        expect(ownedKey('state', a, key)).not.toContain('\u0000');
      }),
    );
    expect(parseKey(plainKey('call', 'c\u00017'))).toEqual({ kind: 'call', owner: '', name: 'c\u00017' });
  });

  it('keeps byte order and prefixes when it encodes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(bytesOrder(ownedKey('state', 'x', a), ownedKey('state', 'x', b)))).toBe(bytesOrder(a, b));
        expect(ownedKey('state', 'x', b).startsWith(ownedKey('state', 'x', a))).toBe(b.startsWith(a));
      }),
    );
  });

  it('finds the end of a prefix', () => {
    fc.assert(
      fc.property(
        text.filter((value) => value !== ''),
        text,
        (prefix, rest) => {
          const end = prefixEnd(prefix);
          expect(end === undefined || bytesOrder(prefix + rest, end) < 0).toBe(true);
        },
      ),
    );
  });
});

describe('isoTime()', () => {
  it('normalises ISO 8601 to milliseconds in UTC, and refuses everything else', () => {
    expect(isoTime('2026-11-15T10:00:00Z')).toBe('2026-11-15T10:00:00.000Z');
    expect(isoTime('2026-11-15T12:00:00.1234+02:00')).toBe('2026-11-15T10:00:00.123Z');
    expect(isoTime('2026-11-15T10:00')).toBe('2026-11-15T10:00:00.000Z');
    expect(isoTime('2026-11-15')).toBe('2026-11-15T00:00:00.000Z');
    for (const bad of ['', 'now', '2026', '15.11.2026', '2026-13-01', '+012026-01-01', '2026-11-15T25:00Z'])
      expect(() => isoTime(bad), bad).toThrow(RepriseError);
  });
});

it('pointText() is read as the same point', () => {
  for (const text of [
    'main',
    'main@12',
    'a%2Fb@turn:3',
    'b@before:4',
    'b@run:r%401',
    'b@time:2026-11-15T10:00:00.000Z',
  ])
    expect(pointText(parsePoint(text))).toBe(text);
});

it('refText() is one harmless word for a shell and a screen, and is read as the same ref', () => {
  for (const id of ["it's; rm -rf $HOME", 'a b\u3000c', 'x"y`z', '日本 語', '~root', 'b\u202eanch', '#1 (draft) *?']) {
    const text = refText({ session: id, branch: id });
    expect(text).toMatch(/^[\p{L}\p{N}_./%-]+$/u);
    expect(parseRef(text)).toEqual({ session: id, branch: id, at: { kind: 'head' } });
  }
  expect(refText({ session: '日本語' })).toBe('日本語');
});
