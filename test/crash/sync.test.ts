import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openReprise, type Reprise } from '../../src/index.ts';
import { checkSynchronous, type SeenConnections, watchConnections, withoutSync } from './connections.ts';

// SIGKILL cannot show a missing fsync: the kernel still has what was written. So the settings are looked at, the calls
// are counted, and a store without them is planted to see that looking finds it.

let directory = '';
let seen: SeenConnections | undefined;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-sync-'));
});
afterEach(() => seen?.stop());
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Opens a store and does all kinds of writing with it. */
async function used(path: string, options: { readonly durability?: 'disk' | 'process' } = {}): Promise<Reprise> {
  const reprise = await openReprise({ store: `sqlite:${join(directory, path)}`, ...options });
  const session = await reprise.createSession();
  await session.append({ type: 'note.added', data: { text: 'a note that is long enough to erase' } });
  await session.fork('main@1', { name: 'x' });
  await session.erase('main@1');
  return reprise;
}

describe('I2 with durability "disk"', () => {
  test('every writing connection waits for the disk, on a new file and on one that was there', async () => {
    seen = watchConnections();
    for (let round = 0; round < 2; round++) {
      await using reprise = await used('plain.db');
      checkSynchronous(seen.open());
      expect((await reprise.health()).durability).toBe('disk');
    }
  });

  test('a store that does not wait for the disk is found out', async () => {
    seen = watchConnections(withoutSync);
    await using reprise = await used('planted.db');
    const connections = seen;
    expect(() => checkSynchronous(connections.open())).toThrow('synchronous is 0');
    expect((await reprise.health()).durability).not.toBe('disk');
  });

  test('a store that was asked not to wait says so', async () => {
    seen = watchConnections();
    await using reprise = await used('process.db', { durability: 'process' });
    const connections = seen;
    expect(() => checkSynchronous(connections.open())).toThrow('synchronous is 1');
    expect((await reprise.health()).durability).toBe('process');
  });
});

const count = 25;
const strace = spawnSync('strace', ['-f', '-e', 'trace=fsync', 'true']);
const hasStrace = strace.status === 0;
if (!hasStrace) console.log('skipped: counting syncs needs strace and the right to use it');

describe.skipIf(!hasStrace)('I2 as the kernel sees it', () => {
  test('each append is synced before it is acknowledged', () => {
    expect(unsynced('counted.db')).toEqual([]);
  });

  test('acknowledgements of a store that does not sync are found out', () => {
    expect(unsynced('uncounted.db', '--no-sync')).toHaveLength(count);
  });
});

/** Which acknowledgements came without a sync since the one before. */
function unsynced(path: string, ...more: string[]): string[] {
  const log = join(directory, `${path}.strace`);
  const child = fileURLToPath(new URL('./append-child.ts', import.meta.url));
  const command = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    child,
    join(directory, path),
    String(count),
    ...more,
  ];
  const calls = 'trace=fsync,fdatasync,write';
  const { status, stderr } = spawnSync('strace', ['-f', '-e', calls, '-s', '32', '-o', log, ...command], {
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  const found: string[] = [];
  let syncs = 0;
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    if (/\bf(data)?sync(\(\d+\)| resumed>\)) += 0/.test(line)) syncs++;
    const acknowledged = /write\(1, "(ready|ack \d+)\\n"/.exec(line)?.[1];
    if (acknowledged === undefined) continue;
    if (acknowledged !== 'ready' && syncs === 0) found.push(acknowledged);
    syncs = 0;
  }
  return found;
}
