/**
 * Writes the reference pages that are made from the source. A test fails when a page that is kept and the source differ.
 * With `--api`, it writes the API pages alone and prints nothing, as `npm pack` wants it.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { apiIndex, apiIndexPath, apiPages } from './api-page.ts';
import { cliPage, cliPagePath } from './cli-page.ts';
import { eventDataFile, eventDataPath } from './event-data.ts';
import { eventsPage, eventsPagePath } from './events-page.ts';
import { limitsPage, limitsPagePath } from './limits-page.ts';
import { steady, storyPicture, storyPicturePath, storyScreen, storyText, storyTextPath } from './story-cast.ts';
import { wirePage, wirePagePath } from './wire-page.ts';

const root = new URL('../', import.meta.url);
rmSync(new URL('docs/reference/api/', root), { recursive: true, force: true });
mkdirSync(new URL('docs/reference/api/', root), { recursive: true });
for (const [path, text] of apiPages()) writeFileSync(new URL(path, root), text);
if (process.argv.includes('--api')) process.exit();

const screen = storyScreen();

const pages = {
  [apiIndexPath]: apiIndex,
  [cliPagePath]: cliPage,
  [eventDataPath]: eventDataFile,
  [eventsPagePath]: eventsPage,
  [limitsPagePath]: limitsPage,
  [wirePagePath]: wirePage,
  [storyTextPath]: () => storyText(screen),
  [storyPicturePath]: () => storyPicture(screen),
};

for (const [path, page] of Object.entries(pages)) {
  const file = new URL(path, root);
  const text = await page();
  // A story that differs only in its clocks and digests is the same story, so the file stays as it is.
  const isStory = path === storyTextPath || path === storyPicturePath;
  const isSame = isStory && existsSync(file) && steady(readFileSync(file, 'utf8')) === steady(text);
  if (!isSame) writeFileSync(file, text);
  console.log(`${isSame ? 'Kept' : 'Wrote'} ${path}`);
}
