import { describe, expect, test } from 'vitest';
import { type QueuedEvent, RecorderQueue } from './queue.ts';
import { StoreBreaker } from './store-breaker.ts';

/** A queue whose moment passes when the test says so. */
function stage() {
  const written: number[] = [];
  let fire: (() => void) | undefined;
  let cancelled = 0;
  const queue = new RecorderQueue({
    write: async (batch) => {
      written.push(batch.length);
      return { lost: new Set() };
    },
    drop: () => undefined,
    onBusy: () => undefined,
    startTimer: (_ms, given) => {
      fire = given;
      return () => void cancelled++;
    },
    breaker: new StoreBreaker(),
  });
  return { queue, written, pass: () => fire?.(), cancelled: () => cancelled };
}

const event: QueuedEvent = { draft: { type: 'note.added', id: '1', time: '2026-11-15T10:00:00.000Z' }, units: 10 };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('recorded events', () => {
  test('gather for a moment, so that what is being recorded is sent first, and are written together', async () => {
    const { queue, written, pass } = stage();
    queue.push(event);
    await turn();
    queue.push(event);
    expect(written).toEqual([]);
    pass();
    await turn();
    expect(written).toEqual([2]);
  });

  test('are written at once when somebody waits for them', async () => {
    const { queue, written, cancelled } = stage();
    queue.push(event);
    await queue.settled();
    expect([written, cancelled()]).toEqual([[1], 1]);
  });

  test('gather anew after they were written', async () => {
    const { queue, written, pass } = stage();
    queue.push(event);
    await queue.settled();
    queue.push(event);
    await turn();
    expect(written).toEqual([1]);
    pass();
    await queue.settled();
    expect(written).toEqual([1, 1]);
  });
});
