/** LangGraph's own suite for checkpoint savers, whole, on PostgreSQL. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openReprise, type Reprise } from '../../src/index.ts';
import { RepriseSaver } from '../../src/langgraph.ts';
import { newPlace } from '../postgres/place.ts';

// The suite takes these from the global scope, where a test runner of LangGraph's choice would put them.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });
const { deltaChannelHistoryTests, validate } = await import('@langchain/langgraph-checkpoint-validation');

let reprise: Reprise;
let savers = 0;

const initializer = {
  checkpointerName: 'RepriseSaver on postgres',
  beforeAll: async () => {
    reprise = await openReprise({ store: newPlace(), durability: 'process' });
  },
  afterAll: () => reprise.close(),
  // A namespace is a wall: each saver finds nothing of the others, in one schema.
  createCheckpointer: async () => new RepriseSaver(reprise.namespace(`saver-${savers++}`)),
};
validate(initializer);
// Opt-in there, since the method is young; what it promises holds here too.
deltaChannelHistoryTests(initializer);
