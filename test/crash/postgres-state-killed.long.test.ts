import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Server, startServer } from '../postgres/server.ts';
import { seedOfRun } from './random.ts';
import { stateRun } from './state-run.ts';

test('I2 B1 transactions of several processes are whole while the server itself is killed and started again', async () => {
  const server = await startServer();
  let kills = 0;
  const disturb = async (done: AbortSignal): Promise<void> => {
    while (!done.aborted) {
      await wait(1_000, undefined, { signal: done }).catch(() => undefined);
      if (kills > 0 && done.aborted) return;
      await server.kill();
      await restarted(server);
      kills += 1;
    }
  };
  try {
    const commits = await stateRun(server.url(), { seed: seedOfRun(), writers: 3, rounds: 3, disturb });
    expect(commits).toBeGreaterThan(10);
    expect(kills).toBeGreaterThan(0);
  } finally {
    await server.stop();
  }
});

/** The children of a killed server take a moment to leave, and hold its memory until then. */
async function restarted(held: Server): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await held.restart();
    } catch (error) {
      if (attempt >= 50) throw error;
      await wait(100);
    }
  }
}
