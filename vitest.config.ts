import { defineConfig } from 'vitest/config';

const second = 1000;

/** Tests that need a PostgreSQL server, which is started for them alone. */
const onServer = 'test/*/postgres*.test.ts';

/** Tests of commands: they run on a file, and once more on that server. */
const commands = 'test/e2e/cli/*.test.ts';

/** One kind of test: where its files are, and how long one test may take. */
function kind(name: string, timeoutMs: number, include: readonly string[] = [`test/${name}/**/*.test.ts`]) {
  return {
    test: {
      name,
      include: [...include],
      exclude: ['**/fixtures/**', ...(name === 'postgres' ? [] : [onServer])],
      testTimeout: timeoutMs,
      hookTimeout: timeoutMs,
      ...(name === 'postgres' ? { globalSetup: ['test/postgres/global-setup.ts'] } : {}),
    },
  };
}

const soaking = process.argv.includes('soak');

export default defineConfig({
  test: {
    pool: 'forks',
    // One more than the cores that are counted on: many tests wait for a program or a server.
    maxWorkers: 3,
    passWithNoTests: true,
    // Beside its test, under a name that fits the house.
    resolveSnapshotPath: (path, extension) => path.replace(/\.test\.ts$/, extension),
    projects: [
      kind('unit', 20 * second, ['src/**/*.test.ts']),
      kind('house', 120 * second, ['test/tidy*.test.ts', 'test/wall.test.ts']),
      kind('contract', 60 * second),
      kind('postgres', 180 * second, ['test/postgres/**/*.test.ts', onServer, commands]),
      kind('crash', 180 * second),
      kind('compat', 60 * second),
      kind('seeds', 60 * second),
      kind('simulation', 120 * second),
      kind('e2e', 180 * second),
      kind('frameworks', 120 * second),
      kind('docs', 120 * second),
      // Runs for ten minutes, so it is there only when asked for by name.
      ...(soaking ? [kind('soak', 3600 * second)] : []),
    ],
  },
});
