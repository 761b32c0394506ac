import { createNodePlatform, openReprise } from '../../src/index.ts';
import { filesIn } from '../../src/node/folder-writer.ts';
import { recordStory } from '../verbs/coding-story.ts';
import { countingPlatform } from './recorded-history.ts';

/** The runs of the coding story. */
export const exportedRuns = ['run-1', 'run-2'] as const;

/** Exports a run of the story from a log whose ids, times and salts are always the same. */
export async function exportedRun(run: string, folder: string): Promise<ReadonlyMap<string, string>> {
  const { writeFolder } = createNodePlatform();
  const platform = {
    ...countingPlatform(),
    ...(writeFolder === undefined ? {} : { writeFolder }),
    runFacts: async () => ({}),
  };
  await using reprise = await openReprise({ store: 'memory:', platform });
  const session = await reprise.createSession('story');
  await recordStory(session.coding);
  await session.coding.exportRun(run, folder, { anthropic: run === 'run-2' });
  return (await filesIn(folder)) ?? new Map();
}
