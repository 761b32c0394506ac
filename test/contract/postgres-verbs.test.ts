import { describe, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { verbSuite } from '../../src/testing/verbs/verb-suite.ts';
import { readyPlace } from '../postgres/ready-place.ts';

describe('the verbs on postgres', () => {
  for (const held of new Set(Object.values(verbSuite).flat()))
    test(`${held.title}`, () =>
      held.run(async () => openReprise({ store: await readyPlace(), durability: 'process' })));
});
