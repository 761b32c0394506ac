// Starts a server of its own, as the user who runs it: node user-child.ts. Writes to it, reads it again, and stops it.

import { writeSync } from 'node:fs';
import { openReprise } from '../../src/index.ts';
import { startServer } from './server.ts';

const server = await startServer();
try {
  await using reprise = await openReprise(server.url());
  const session = await reprise.session('demo', { create: true });
  await session.append({ type: 'note.added', data: { text: 'here' } });
  writeSync(1, `user ${process.getuid?.()} verified ${(await session.verify()).ok}\n`);
} finally {
  await server.stop();
}
