import { expect, test } from 'vitest';
import type { Event } from '../core/event/event.ts';
import { project } from '../core/event/projection.ts';
import type { JsonObject } from '../core/json.ts';
import { eventIndex } from './event-index.ts';

function ended(seq: number, data: JsonObject): Event {
  const about = { session: 's', branch: 'main', seq, id: `e${seq}`, version: 1, turn: 1, digest: '' };
  return { ...about, time: '2026-01-01T00:00:00.000Z', type: 'call.ended', data } as unknown as Event;
}

test('a call under a millisecond took one; only an unknown latency is 0', () => {
  const latencies = [{ latencyMs: 0.2 }, { latencyMs: 0 }, {}, { latencyMs: 61.4 }];
  const { latency } = project(
    eventIndex,
    latencies.map((data, at) => ended(at + 1, data)),
  );
  expect(latency).toEqual([1, 0, 0, 61]);
});

test('a call began where its own start is, also if another agent uses its id', () => {
  const half = (seq: number, type: string, agent: string): Event => ({ ...ended(seq, { call: 'c1' }), type, agent });
  const { began } = project(eventIndex, [
    half(1, 'call.started', 'a'),
    half(2, 'call.started', 'b'),
    half(3, 'call.ended', 'a'),
    half(4, 'call.ended', 'b'),
  ]);
  expect(began).toEqual([2, 2]);
});
