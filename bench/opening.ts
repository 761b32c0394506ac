/** Opening a store that has a very long history, and the memory that reading all of it takes. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { openReprise } from '../src/index.ts';
import { alternate, bytes, forTheRecord, median, type Row, spread, time, timeEach } from './measure.ts';
import type { Memory } from './memory.ts';
import { sessionId, type Workspace } from './workspace.ts';

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
  const { before, tenths } = memoryOfReplay(path, eventsMore);
  return [
    forTheRecord(
      `open, session and first 64 events of ${eventsMore.toLocaleString('en')}`,
      time(median(times.open)),
      spread(times.open),
    ),
    forTheRecord(
      `memory of a full replay of ${eventsMore.toLocaleString('en')} events`,
      bytes(Math.max(...tenths)),
      `in a process of its own, without pages of the mapped file; ${bytes(before)} before, then at most ${tenths.map(bytes).join(', ')} in each tenth of the way`,
    ),
  ];
}

function memoryOfReplay(path: string, events: number): Memory {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(import.meta.dirname, 'memory.ts'), path], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Cannot measure the memory of a replay: ${stderr}`);
  const memory = JSON.parse(stdout) as Memory;
  if (memory.events !== events) throw new Error(`Saw ${memory.events} of ${events} events`);
  return memory;
}
