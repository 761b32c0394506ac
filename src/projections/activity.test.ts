import { expect, test } from 'vitest';
import type { Event } from '../core/event/event.ts';
import { project } from '../core/event/projection.ts';
import { activity } from './activity.ts';

function event(seq: number, seconds: number, more: Partial<Event> = {}): Event {
  const time = new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
  const about = { session: 's', branch: 'main', seq, id: `e${seq}`, time, version: 1, turn: 0, digest: '', data: {} };
  return { ...about, type: 'note.added', ...more } as unknown as Event;
}

test('nothing happened in an empty history', () => {
  expect(project(activity, [])).toMatchObject({ startedAt: null, events: [], firstError: null });
});

test('a history of any length has 32 stretches at most, and no event is lost', () => {
  const events = Array.from({ length: 500 }, (_, index) => event(index + 1, index * index));
  const { events: counts, stretchMs: width } = project(activity, events);
  expect(counts.length).toBeLessThanOrEqual(32);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(500);
  expect(width * 32).toBeGreaterThan(499 * 499 * 1000);
});

test('the first error is named, and a clock that goes back counts at the beginning', () => {
  const failed = { type: 'call.ended', data: { outcome: 'error' } };
  const found = project(activity, [event(1, 100), event(2, 105, failed), event(3, 50, failed)]);
  expect(found).toMatchObject({ firstError: 2, events: [2, 0, 0, 0, 0, 1], errors: [1, 0, 0, 0, 0, 1] });
});
