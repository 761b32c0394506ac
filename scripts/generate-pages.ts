/** Writes the reference pages that are made from the source. A test fails when a page and the source differ. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { apiPage, apiPagePath } from './api-page.ts';
import { cliPage, cliPagePath } from './cli-page.ts';
import { eventDataFile, eventDataPath } from './event-data.ts';
import { eventsPage, eventsPagePath } from './events-page.ts';
import { limitsPage, limitsPagePath } from './limits-page.ts';
import { steady, storyPicture, storyPicturePath, storyScreen, storyText, storyTextPath } from './story-cast.ts';
import { wirePage, wirePagePath } from './wire-page.ts';

const screen = storyScreen();

const pages = {
  [apiPagePath]: apiPage,
  [cliPagePath]: cliPage,
  [eventDataPath]: eventDataFile,
  [eventsPagePath]: eventsPage,
  [limitsPagePath]: limitsPage,
  [wirePagePath]: wirePage,
  [storyTextPath]: () => storyText(screen),
  [storyPicturePath]: () => storyPicture(screen),
};

for (const [path, page] of Object.entries(pages)) {
  const file = new URL(`../${path}`, import.meta.url);
  const text = await page();
  // A story that differs only in its clocks and digests is the same story, so the file stays as it is.
  const isStory = path === storyTextPath || path === storyPicturePath;
  const isSame = isStory && existsSync(file) && steady(readFileSync(file, 'utf8')) === steady(text);
  if (!isSame) writeFileSync(file, text);
  console.log(`${isSame ? 'Kept' : 'Wrote'} ${path}`);
}
