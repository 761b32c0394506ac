/** Opening a store that holds a very long history, and the memory that reading all of it takes. */
import { openReprise } from '../src/index.ts';
import { alternate, bytes, forTheRecord, median, type Row, spread, time, timeEach } from './measure.ts';
import { open, sessionId, type Workspace } from './workspace.ts';

/** Rows of opening and of memory. */
export async function benchOpening(workspace: Workspace): Promise<Row[]> {
  const { eventsMore, rounds } = workspace.sizes;
  const path = await workspace.history(eventsMore);
  const times = await alternate(rounds, {
    open: () =>
      timeEach(1, async () => {
        await using reprise = await openReprise({ store: `sqlite:${path}` });
        const session = await reprise.session(sessionId);
        let seen = 0;
        for await (const event of session.replay({ limit: 64 })) seen += event.seq > 0 ? 1 : 0;
        if (seen !== 64) throw new Error(`Saw ${seen} of 64 events`);
      }),
  });
  const memory = await memoryOfReplay(path, eventsMore);
  return [
    forTheRecord(
      `open, session and first 64 events of ${eventsMore.toLocaleString('en')}`,
      time(median(times.open)),
      spread(times.open),
    ),
    forTheRecord(
      `memory of a full replay of ${eventsMore.toLocaleString('en')} events`,
      bytes(memory.heapMost),
      `heap before ${bytes(memory.heapBefore)}, at most ${bytes(memory.heapMost)} on the way; resident ${bytes(memory.residentBefore)} → ${bytes(memory.residentAfter)}, of which pages of the mapped file are a part; ${time(memory.took)}`,
    ),
  ];
}

interface Memory {
  readonly heapBefore: number;
  readonly heapMost: number;
  readonly residentBefore: number;
  readonly residentAfter: number;
  readonly took: number;
}

async function memoryOfReplay(path: string, events: number): Promise<Memory> {
  globalThis.gc?.();
  const before = process.memoryUsage();
  let heapMost = 0;
  let seen = 0;
  const took = await timeEach(1, async () => {
    await using opened = await open(path, 'process');
    for await (const event of opened.session.replay()) {
      if (++seen !== event.seq) throw new Error(`Event ${seen} has seq ${event.seq}`);
      if (seen % 10_000 === 0) heapMost = Math.max(heapMost, process.memoryUsage().heapUsed);
    }
  });
  if (seen !== events) throw new Error(`Saw ${seen} of ${events} events`);
  return {
    heapBefore: before.heapUsed,
    heapMost: Math.max(heapMost, before.heapUsed),
    residentBefore: before.rss,
    residentAfter: process.memoryUsage().rss,
    took,
  };
}
