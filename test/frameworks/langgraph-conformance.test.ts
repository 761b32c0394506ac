/** LangGraph's own suite for checkpoint savers, whole, on both embedded stores. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openReprise, type Reprise } from '../../src/index.ts';
import { RepriseSaver } from '../../src/langgraph.ts';

// The suite takes these from the global scope, where a test runner of LangGraph's choice would put them.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });
const { deltaChannelHistoryTests, validate } = await import('@langchain/langgraph-checkpoint-validation');

const opened = new Map<RepriseSaver, Reprise>();
let directory = '';
let files = 0;

async function saverOn(store: string): Promise<RepriseSaver> {
  const reprise = await openReprise(store);
  const saver = new RepriseSaver(reprise);
  opened.set(saver, reprise);
  return saver;
}

const destroyCheckpointer = async (saver: RepriseSaver): Promise<void> => opened.get(saver)?.close();

const suites = {
  memory: { createCheckpointer: () => saverOn('memory:') },
  sqlite: {
    beforeAll: () => {
      directory = mkdtempSync(join(tmpdir(), 'reprise-langgraph-'));
    },
    afterAll: () => rmSync(directory, { recursive: true, force: true }),
    createCheckpointer: () => saverOn(`sqlite:${join(directory, `${files++}.db`)}`),
  },
};

for (const [name, suite] of Object.entries(suites)) {
  const initializer = { checkpointerName: `RepriseSaver on ${name}`, destroyCheckpointer, ...suite };
  validate(initializer);
  // Opt-in there, since the method is young; what it promises holds here too.
  deltaChannelHistoryTests(initializer);
}
