/** Writes the reference pages that are made from the source. A test fails when a page and the source differ. */
import { writeFileSync } from 'node:fs';
import { apiPage, apiPagePath } from './api-page.ts';
import { cliPage, cliPagePath } from './cli-page.ts';
import { eventsPage, eventsPagePath } from './events-page.ts';
import { limitsPage, limitsPagePath } from './limits-page.ts';
import { storyPicture, storyPicturePath, storyScreen, storyText, storyTextPath } from './story-cast.ts';

const screen = storyScreen();

const pages = {
  [apiPagePath]: apiPage,
  [cliPagePath]: cliPage,
  [eventsPagePath]: eventsPage,
  [limitsPagePath]: limitsPage,
  [storyTextPath]: () => storyText(screen),
  [storyPicturePath]: () => storyPicture(screen),
};

for (const [path, page] of Object.entries(pages)) {
  writeFileSync(new URL(`../${path}`, import.meta.url), await page());
  console.log(`Wrote ${path}`);
}
