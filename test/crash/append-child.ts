// Appends one event after another and says so after each: node append-child.ts PATH COUNT [--no-sync]

import { writeSync } from 'node:fs';
import { openReprise } from '../../src/index.ts';
import { watchConnections, withoutSync } from './connections.ts';

const [path = '', count = '0', fault] = process.argv.slice(2);
if (fault === '--no-sync') watchConnections(withoutSync);
await using reprise = await openReprise(`sqlite:${path}`);
const session = await reprise.session('demo', { create: true });
writeSync(1, 'ready\n');
for (let index = 1; index <= Number(count); index++) {
  await session.append({ type: 'note.added', data: { text: `note ${index}` } });
  writeSync(1, `ack ${index}\n`);
}
