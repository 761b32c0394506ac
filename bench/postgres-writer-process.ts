/** Writers in a separate process: told to begin by a line, they append, and say that they are done. */
import { createInterface } from 'node:readline';
import type { Session } from '../src/index.ts';
import { openPostgres } from './postgres.ts';
import { drafts, payloads } from './workload.ts';

const [url = '', name = '', writers = '1', sessions = '1', each = '1'] = process.argv.slice(2);

const opened = await openPostgres(url);
const held: Session[] = [];
for (let index = 0; index < Number(sessions); index++)
  held.push(await opened.reprise.session(sessions === '1' ? 'shared' : `${name}-${index}`, { create: true }));
const batch = drafts(payloads(200, 600), Number(writers));

async function write(): Promise<void> {
  await Promise.all(
    batch.map(async (draft, writer) => {
      for (let time = 0; time < Number(each); time++) await (held[writer % held.length] as Session).append(draft);
    }),
  );
}

process.stdout.write('ready\n');
// It ends with the process that started it, however that one ends.
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break;
  await write();
  process.stdout.write('done\n');
}
await opened.reprise.close();
process.exit(0);
