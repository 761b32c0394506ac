import { AxeBuilder } from '@axe-core/playwright';
import { test as base, expect, type Locator, type Page } from '@playwright/test';
import { recordCrowd } from './crowd.ts';
import { Folder, type RunningStudio, startStudio } from './studio-process.ts';

/** Every test has a studio on a store made by the demo, and a page that may not do anything wrong. */
interface StudioFixtures {
  /** Fails the test if the page threw, logged an error, or broke its policy. */
  readonly strict: undefined;
}

interface StudioWorker {
  readonly folder: Folder;
  readonly studio: RunningStudio;
  /** The same studio, once its store has the histories of `crowd.ts` too. */
  readonly crowded: RunningStudio;
}

/** A test with a studio. */
export const test = base.extend<StudioFixtures, StudioWorker>({
  folder: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the pattern to know what a fixture needs.
    async ({}, use) => {
      using folder = new Folder();
      folder.run('demo', '--store', folder.store);
      await use(folder);
    },
    { scope: 'worker' },
  ],
  studio: [
    async ({ folder }, use) => {
      const studio = await startStudio(folder);
      await use(studio);
      await studio.stop();
    },
    { scope: 'worker' },
  ],
  crowded: [
    async ({ folder, studio }, use) => {
      await recordCrowd(folder.store);
      await use(studio);
    },
    { scope: 'worker' },
  ],
  strict: [
    async ({ page }, use) => {
      const wrong: string[] = [];
      page.on('pageerror', (error) => wrong.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error' && !expected.test(message.text())) wrong.push(message.text());
      });
      await use(undefined);
      expect(wrong, 'errors and policy violations of the page').toEqual([]);
    },
    { auto: true },
  ],
});

/** A browser logs every refused request; tests that make one on purpose look at the page instead. */
const expected = /Failed to load resource|net::ERR_/;

export { expect };

/** Finds the panel that is open. The one before it stays for a moment, inert, while it leaves. */
export function panelOf(page: Page): Locator {
  return page.locator('[data-part=panel]:not([inert])');
}

/** Opens a screen, and waits until it is there. */
export async function open(page: Page, studio: RunningStudio, path: string): Promise<void> {
  await page.goto(studio.url(path));
  await expect(page.locator('main.main')).toBeVisible();
}

/** Expects that axe finds nothing serious on the page. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  expect.soft(serious, page.url()).toEqual([]);
}

/** The point that is selected, as the bar at the bottom says it. */
export function selectedPoint(page: Page): Promise<string> {
  return page.locator('[data-part=point] strong').innerText();
}
