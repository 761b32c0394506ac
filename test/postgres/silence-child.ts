// Uses a store on a network that falls silent: node silence-child.ts URL. Says what came of it, closes, and has to end by itself.

import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { createNodePlatform, openPostgresStore, openReprise, RepriseError } from '../../src/index.ts';

const say = (text: string): number => writeSync(1, `${text}\n`);
const platform = createNodePlatform();
const [url = ''] = process.argv.slice(2);
const store = await openPostgresStore({ url, platform, busyWaitMs: 500, statementTimeoutMs: 500 });
const reprise = await openReprise({ store, platform });
const session = await reprise.session('silence', { create: true });
// Several connections, and one that listens.
await Promise.all(Array.from({ length: 4 }, () => session.locate()));
const following = (async () => {
  for await (const event of session.replay({ follow: true })) say(event.type);
})();
following.catch(() => {});
await session.append({ type: 'note.added', data: { text: 'heard' } });
say('ready');
await once(process.stdin, 'data');
process.stdin.destroy();
let beats = 0;
const heart = setInterval(() => beats++, 20);
const error = await session.append({ type: 'note.added', data: { text: 'lost' } }).then(
  () => undefined,
  (thrown: unknown) => thrown,
);
clearInterval(heart);
say(error instanceof RepriseError ? `${error.code}: ${error.message} (${error.hint})` : 'it did not fail');
say(beats > 2 ? 'awake' : 'frozen');
await reprise.close();
say('closed');
