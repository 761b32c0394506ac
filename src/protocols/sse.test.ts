import { expect, test } from 'vitest';
import { parseSse, SseReader, sseText } from './sse.ts';

const body = [
  ': a comment',
  'event: ping',
  'data: {"type":"ping"}',
  '',
  'data: {"text":"naïve 👩‍🚀"}',
  '',
  'data: one',
  'data: two',
  'id: 7',
  '',
  'data:[DONE]',
  '',
  '',
];
const events = [
  { event: 'ping', data: { type: 'ping' } },
  { data: { text: 'naïve 👩‍🚀' } },
  { data: 'one\ntwo' },
  { data: '[DONE]' },
];

test.each([['\n'], ['\r\n'], ['\r']])('parseSse() reads events whose lines end with %j', (end) => {
  expect(parseSse(body.join(end))).toEqual(events);
});

test('SseReader reads the same events wherever the bytes are cut', () => {
  for (const end of ['\n', '\r\n']) {
    const bytes = new TextEncoder().encode(body.join(end));
    for (let size = 1; size < 9; size++) {
      const reader = new SseReader();
      const read = [];
      for (let at = 0; at < bytes.length; at += size) read.push(...reader.add(bytes.subarray(at, at + size)));
      expect([...read, ...reader.end()]).toEqual(events);
    }
  }
});

test('an event that the body ends in is read; data that is not JSON stays text', () => {
  expect(parseSse('data: {"a":1}')).toEqual([{ data: { a: 1 } }]);
  expect(parseSse('data: {"a":')).toEqual([{ data: '{"a":' }]);
  expect(parseSse('')).toEqual([]);
});

test('sseText() writes what parseSse() reads', () => {
  expect(parseSse(events.slice(0, 2).map(sseText).join(''))).toEqual(events.slice(0, 2));
});
