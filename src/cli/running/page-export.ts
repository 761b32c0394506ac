import { builtFolder } from '../../node/built-folder.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { release } from '../../node/release.ts';
import { openStore } from '../../open-reprise.ts';
import { type ExportRules, exportRulesFrom } from '../../reading/export-rules.ts';
import { type ReadyPage, readPageParts, readyPage } from '../../server/exported-page.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import type { Context } from '../context.ts';

/** Bundles what a ref names for a page, without the payloads that rules leave out. */
export async function preparePage(context: Context, text: string, rules: ExportRules): Promise<ReadyPage> {
  // Its masking rules always count.
  await context.config();
  const { ref, session } = await context.at(text);
  const platform = createNodePlatform();
  const store = await openStore(context.chosenStore().location, platform, { create: false });
  try {
    return await readyPage({
      store,
      openScratch: () => openMemoryStore({ platform }),
      platform,
      namespace: context.chosenNamespace(),
      ref,
      rules,
      mask: await session.masker(),
      release: release(),
      parts: readPageParts(builtFolder('studio-page')),
    });
  } finally {
    await store.close();
  }
}

/** Splits rules at commas; a text or a pattern may hold commas if it comes last. */
export function rulesIn(text: string): ExportRules {
  const at = /(?:^|,)(?:text|pattern):/.exec(text);
  if (at === null) return exportRulesFrom(text.split(',').map((rule) => rule.trim()));
  const before = text.slice(0, at.index).split(',');
  const named = before.map((rule) => rule.trim()).filter((rule) => rule !== '');
  return exportRulesFrom([...named, text.slice(at.index).replace(/^,/, '')]);
}
