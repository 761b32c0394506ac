// Another process on the same store: node peer-child.ts URL. Opens it when it gets a line of input, and appends one event.

import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { openReprise } from '../../src/index.ts';

const [url = ''] = process.argv.slice(2);
writeSync(1, 'ready\n');
await once(process.stdin, 'data');
process.stdin.destroy();
await using reprise = await openReprise(url);
const session = await reprise.session('demo', { create: true });
const [event] = await session.append({ type: 'note.added', data: { text: String(process.pid) } });
writeSync(1, `appended ${event?.seq}\n`);
