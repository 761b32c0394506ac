// Resumes branch "x" and stays in the middle of a call: node resume-child.ts PATH model|tool

import { writeSync } from 'node:fs';
import { openReprise } from '../../src/index.ts';
import { asks, littleAgent } from '../verbs/little-agent.ts';

const [path = '', where = ''] = process.argv.slice(2);
await using reprise = await openReprise(`sqlite:${path}`);
const session = await reprise.session('demo');

/** Says where it is, and never comes back. */
function hang(): Promise<never> {
  writeSync(1, 'here\n');
  setInterval(() => undefined, 1_000);
  return new Promise(() => undefined);
}

let rounds = 0;
const agent = littleAgent({
  tools: { refund: { effect: 'irreversible', call: hang } },
  model: () => {
    if (where === 'model' && rounds++ === 1) return hang();
    return where === 'tool' ? asks('refund', { order: 7 }, 'r1') : asks('look', { order: 7 }, 'l1');
  },
});
await session.branch('x').resume(agent, { effects: 'once' });
