// Another process that writes at random: node random-child.ts URL NAME MS SESSIONS [fork]. Prints the answers, as JSON.

import { createNodePlatform, openPostgresStore } from '../../src/index.ts';
import { writeRandomly } from './random-writer.ts';

const [url = '', name = '', ms = '', sessions = '', fork] = process.argv.slice(2);
const platform = createNodePlatform();
const store = await openPostgresStore({ url, platform, durability: 'process' });
const deadline = performance.now() + Number(ms);
const told = await writeRandomly(store, {
  platform,
  name,
  sessions: sessions.split(' '),
  isForking: fork === 'fork',
  until: () => performance.now() > deadline,
});
await store.close();
process.stdout.write(`${JSON.stringify(told)}\n`);
