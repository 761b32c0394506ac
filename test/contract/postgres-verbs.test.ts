import { describe, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { readyPlace } from '../postgres/ready-place.ts';
import { verbSuite } from '../verbs/verb-suite.ts';

/** Verbs that work above the store: they ask of it only what its contract and the other verbs ask on a server too. */
const aboveTheStore = new Set([
  'resume',
  'retry',
  'experiment',
  'counterfactual',
  'fingerprint',
  'reprise.diff',
  'reprise.import',
  'reprise.export',
]);

/** Cases of those verbs in which several programs meet at the store. */
const meeting = /at once|at the same time|another branch|different branch/;

describe('the verbs on postgres', () => {
  const cases = Object.entries(verbSuite).flatMap(([verb, held]) =>
    held.filter(({ title }) => !aboveTheStore.has(verb) || meeting.test(title)),
  );
  for (const held of new Set(cases))
    test(`${held.title}`, () =>
      held.run(async () => openReprise({ store: await readyPlace(), durability: 'process' })));
});
