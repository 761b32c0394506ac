// Commits beliefs until it is killed: node belief-child.ts STORE NAME. Each acknowledged commit is a line of JSON.

import { writeSync } from 'node:fs';
import { openReprise } from '../../src/index.ts';

const [store = '', name = ''] = process.argv.slice(2);
await using reprise = await openReprise({ store, busyWaitMs: 30_000 });
const session = await reprise.session('demo');
for (let index = 0; ; index++) {
  const topic = index % 2 === 0 ? `shared-${index % 4}` : `own-${name}`;
  const id = `${name}-${index}`;
  await session.beliefs.commit({
    id,
    agent: name,
    topic,
    kind: 'decision',
    claim: `${name} says ${index}`,
    turn: index,
  });
  writeSync(1, `${JSON.stringify({ id })}\n`);
}
