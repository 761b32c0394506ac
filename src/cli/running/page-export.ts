import { given } from '../../core/json.ts';
import { builtFolder } from '../../node/own-package.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { release } from '../../node/release.ts';
import { openStore, recordingOf } from '../../open-reprise.ts';
import { type ReadyPage, readPageParts, readyPage } from '../../server/studio/exported-page.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import type { Context } from '../context.ts';

/** Copies what a ref names for a page, without the payloads that rules take out. */
export async function preparePage(context: Context, text: string, rules: readonly string[]): Promise<ReadyPage> {
  // Its masking rules always count.
  const config = await context.config();
  const { ref } = await context.at(text);
  const platform = createNodePlatform();
  const store = await openStore(context.chosenStore().location, platform, { create: false });
  try {
    return await readyPage({
      store,
      openScratch: () => openMemoryStore({ platform }),
      platform,
      recording: recordingOf({}, given({ config })),
      namespace: context.chosenNamespace(),
      ref,
      rules,
      release: release(),
      parts: readPageParts(builtFolder('studio-page')),
    });
  } finally {
    await store.close();
  }
}
