import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedOfMoment } from '../crash/random.ts';
import { tamper } from '../postgres/place.ts';
import { type Server, startServer } from '../postgres/server.ts';
import { report, rowsOf } from './soak-rows.ts';
import { soakRun } from './soak-run.ts';

/** How long to go on; ten minutes unless told otherwise. */
const whole = 600;
const seconds = Number(process.env['REPRISE_SOAK_SECONDS'] ?? whole);
const crew = { writers: 3, followers: 3 };

let server: Server;
let connections = 0;
let directory = '';
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-soak-server-'));
  server = await startServer({
    settings: ['log_connections=on'],
    onLog: (text) => {
      connections += text.match(/connection authorized: .*application_name=reprise/g)?.length ?? 0;
    },
  });
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('I2 acknowledged is forever: processes and their PostgreSQL server killed again and again', async () => {
  const seed = seedOfMoment();
  console.log(`soak seed ${seed}, for ${seconds} s`);
  const figures = await soakRun({
    ...crew,
    url: server.url(),
    directory,
    seconds,
    seed,
    faults: {
      'server killed': async (random) => {
        await server.kill();
        await sleep(random.below(1_500));
        await server.restart();
      },
      'server frozen': async (random) => {
        server.freeze('SIGSTOP');
        await sleep(random.below(3_000));
        server.freeze('SIGCONT');
      },
      'connections cut': async () => {
        await tamper(
          server.url(),
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reprise'`,
        ).catch(() => {});
      },
    },
  });
  const more = `; ${connections.toLocaleString('en')} connections were made`;
  report('PostgreSQL', rowsOf(figures, { ...crew, store: 'PostgreSQL', seconds, more }), seconds >= whole);
  expect(figures).toMatchObject({ lost: 0, doubled: 0, misled: 0, unverified: 0 });
  expect(figures.acknowledged).toBeGreaterThan(seconds);
});
