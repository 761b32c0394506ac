/** Runs an experiment, or continues it, and dies in the middle of the branch that its arguments name. */
import { appendFileSync } from 'node:fs';
import { openReprise } from '../../src/index.ts';

const [path = '', log = '', id = '', dieAt = '0'] = process.argv.slice(2);
await using reprise = await openReprise(`sqlite:${path}`);
const session = await reprise.session('demo');
let runs = 0;
await session.experiment({
  variants: [{ name: 'a' }, { name: 'b', system: 'Be brief.' }],
  repeats: 3,
  parallel: 1,
  ...(id === '' ? {} : { continue: id }),
  agent: async ({ branch }) => {
    if (++runs === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
    return branch;
  },
  onProgress: ({ id: own, variant, repeat, row }) => {
    if (row !== undefined) appendFileSync(log, `${own} ${variant}-${repeat}\n`);
  },
});
