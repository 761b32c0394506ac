/** A server in a separate process, with a bare socket for comparison that gives the same rows without anything around them. */
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { seq } from '../src/core/point.ts';
import { createNodePlatform, limits, openPostgresStore, openSqliteStore } from '../src/index.ts';
import { makeToken, serve } from '../src/server.ts';
import type { EventStore } from '../src/store.ts';
import { sessionId } from './workspace.ts';

const [store = '', isDurable = 'process'] = process.argv.slice(2);
const platform = createNodePlatform();
const durability = isDurable === 'disk' ? 'disk' : 'process';
const opened = store.startsWith('postgres')
  ? await openPostgresStore({ url: store, platform, durability })
  : await openSqliteStore({ path: store, platform, durability });
const { token, record } = makeToken({ rights: ['admin'] }, platform);
await opened.tokens.add(record);
const server = await serve({ store: opened, port: 0, callsPerSecond: 1_000_000 });

/** Sends every row of a branch as a line of JSON, a page at a time. */
async function sendRows(held: EventStore, socket: Socket): Promise<void> {
  const ref = { namespace: 'default', session: sessionId };
  const head = (await held.branchHead({ ...ref, branch: 'main' }))?.head ?? 0;
  const view = [{ branch: 'main', after: seq(0), through: seq(head), except: [], carried: false }];
  let cursor: Parameters<EventStore['read']>[2]['cursor'];
  do {
    const page = await held.read(ref, view, {
      limit: limits.pageEventsMax,
      select: 'full',
      direction: 'forward',
      ...(cursor === undefined ? {} : { cursor }),
    });
    const isTaken = socket.write(page.events.map((row) => `${JSON.stringify(row)}\n`).join(''));
    if (!isTaken) await new Promise((resolve) => socket.once('drain', resolve));
    cursor = page.next;
  } while (cursor !== undefined);
  socket.end();
}

const bare = createServer((socket) => void sendRows(opened, socket).catch(() => socket.destroy()));
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
const address = bare.address();
const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
say({ url: server.url, token, barePort: typeof address === 'object' ? address?.port : 0 });

// It ends with the process that started it, however that one ends.
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break;
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  say({ rss, held: heapUsed + external });
}
process.exit(0);
