// Keeps a store and exports as this release writes them, for every later release to read, and the schema of its wire,
// which no later release may break: npm run record-history [-- --again]

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../src/index.ts';
import { answersOf } from '../test/compat/history-answers.ts';
import { exportedRun, exportedRuns } from '../test/compat/recorded-export.ts';
import { countingPlatform, recordHistory } from '../test/compat/recorded-history.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};
const directory = join(import.meta.dirname, '..', 'test', 'compat', 'histories', version);
const path = join(directory, 'store.db');

// The history of a release never changes; only a version that is not released yet may be recorded again.
if (existsSync(directory) && !process.argv.includes('--again')) {
  console.error(
    `Cannot record ${version}: it was recorded before. Raise the version, or add --again before it is released.`,
  );
  process.exit(2);
}
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
await recordHistory(path);
const platform = countingPlatform();
const store = await openSqliteStore({ path, platform, readOnly: true });
writeFileSync(join(directory, 'expected.json'), `${JSON.stringify(await answersOf(store, platform), null, 1)}\n`);
await store.close();
for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
// A store keeps itself out of git, and this one belongs there.
rmSync(join(directory, '.gitignore'), { force: true });
const root = join(import.meta.dirname, '..');
const exports = join(root, 'test', 'compat', 'exports', version);
mkdirSync(exports, { recursive: true });
for (const run of exportedRuns) {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-export-'));
  const files = Object.fromEntries(await exportedRun(run, join(folder, run)));
  writeFileSync(join(exports, `${run}.json`), `${JSON.stringify(files, null, 1)}\n`);
  rmSync(folder, { recursive: true });
}
const wire = join(root, 'test', 'compat', 'wire', version, 'reprise');
rmSync(wire, { recursive: true, force: true });
cpSync(join(root, 'proto', 'reprise'), wire, { recursive: true });
console.log(`Recorded ${version} in ${directory}`);
