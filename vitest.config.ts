import { defineConfig } from 'vitest/config';

const second = 1000;

/** Whether this is `npm run soak`, which takes its time. */
const soaking = process.argv.includes('soak');

/** Whether this is `npm run test:all`. */
const isAll = process.env['REPRISE_TESTS'] === 'all';

/** Tests that take too long for every change. They run with `npm run test:all`, and when one is asked for by name. */
const long = '**/*.long.test.ts';
const leavesOutLong = !isAll && !process.argv.some((word) => word.includes('.long'));

/** Tests that need a PostgreSQL server, which is started for them alone. */
const onServer = 'test/*/postgres*.test.ts';

/**
 * Tests of commands that run on a file, and once more on that server: `shapes`, which runs every command once, and with
 * all tests those whose statements differ there. The other commands do not depend on the store.
 */
const commands = `test/e2e/cli/${isAll ? '{demo,forget,server,shapes,state,withstand}' : 'shapes'}.test.ts`;

/** Hostile cases that can differ on a server, and run there too. */
const hostile = `test/hostile/${isAll ? '{rows,histories}' : 'histories'}.test.ts`;

/**
 * Kinds whose files each get a process: they keep connections, servers or children for the length of a file, or count
 * the work of code that must not be loaded before. The files of all others leave nothing behind, and share what they
 * import.
 */
const alone = new Set(['crash', 'docs', 'hostile', 'postgres', 'server', 'soak']);

/** One kind of test: where its files are, and when a test that hangs is given up, on a machine as busy as it may be. */
function kind(name: string, timeoutMs: number, include: readonly string[] = [`test/${name}/**/*.test.ts`]) {
  return {
    test: {
      name,
      include: [...include],
      exclude: ['**/fixtures/**', ...(leavesOutLong ? [long] : []), ...(name === 'postgres' ? [] : [onServer])],
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      expect: { poll: { timeout: timeoutMs } },
      env: {
        // Tests must neither read nor make the key file of the person who runs them.
        REPRISE_MASK_KEY: 'a key for tests, which everyone may know',
        ...(soaking ? { REPRISE_RUNS: process.env['REPRISE_RUNS'] ?? '400' } : {}),
      },
      ...(alone.has(name) ? {} : { isolate: false, restoreMocks: true }),
      ...(name === 'postgres' ? { globalSetup: ['test/postgres/global-setup.ts'] } : {}),
    },
  };
}

export default defineConfig({
  test: {
    pool: 'forks',
    // One more than the cores that are counted on: many tests wait for a program or a server.
    maxWorkers: 3,
    passWithNoTests: true,
    // Beside its test, under a name that fits the house.
    resolveSnapshotPath: (path, extension) => path.replace(/\.test\.ts$/, extension),
    projects: [
      kind('unit', 60 * second, ['src/**/*.test.ts', 'studio/src/**/*.test.ts']),
      kind('house', 120 * second, ['test/tidy*.test.ts', 'test/wall.test.ts']),
      kind('contract', 120 * second),
      kind('server', 180 * second),
      kind('postgres', 300 * second, ['test/postgres/**/*.test.ts', onServer, commands, hostile]),
      kind('crash', 300 * second),
      kind('compat', 120 * second),
      kind('hostile', 300 * second),
      kind('seeds', 120 * second),
      kind('import', 180 * second),
      kind('simulation', soaking ? 3600 * second : 300 * second),
      kind('e2e', 300 * second),
      kind('frameworks', 180 * second),
      kind('docs', 180 * second),
      // Runs for ten minutes, so it is there only when asked for by name.
      ...(soaking ? [kind('soak', 3600 * second)] : []),
    ],
  },
});
