/** Histories that are too much for a careless page. */
import type { Page } from '@playwright/test';
import { crowd, strangeId } from './crowd.ts';
import type { RunningStudio } from './studio-process.ts';
import { expect, open, panelOf, test } from './studio-test.ts';

const at = (page: Page, studio: RunningStudio, path: string): Promise<void> =>
  open(page, studio, `${path}${path.includes('?') ? '&' : '?'}namespace=${crowd}`);

test('a message of 12 MB opens cut, with its size, and reads on', async ({ page, crowded: studio }) => {
  await at(page, studio, '/s/large/main@2');
  const panel = panelOf(page);
  await expect(panel).toContainText('A long letter.');
  await expect(panel).toContainText('in all, show more');
  const letters = async (): Promise<number> => (await panel.innerText()).length;
  expect(await letters()).toBeLessThan(20_000);
  await panel.getByRole('button', { name: 'show more' }).first().click();
  await expect.poll(letters).toBeGreaterThan(100_000);
  await panel.getByRole('button', { name: 'as Markdown' }).first().click();
  await expect(panel.locator('[data-part=markdown]')).toContainText('refund what was paid');
  expect(await panel.locator('a').count()).toBe(0);
});

test('300 branches are rows of a tree, found by name', async ({ page, crowded: studio }) => {
  await at(page, studio, '/s/branches/tree');
  await expect(page.locator('.screen-head')).toContainText('301 of 301');
  expect(await page.locator('.tree-row').count()).toBeLessThan(80);
  await page.getByLabel('Filter branches').fill('try-277');
  await expect(page.locator('.tree-row')).toHaveCount(1);
  await page.locator('.tree-row').click();
  await expect(page).toHaveURL(/\/s\/branches\/try-277@/);
});

test('60 lanes scroll and fold in their own place', async ({ page, crowded: studio }) => {
  await at(page, studio, '/s/lanes/main@900');
  const strip = page.locator('[data-part=strip]');
  await expect(strip).toHaveAttribute('aria-valuenow', '900');
  const { height = 0 } = (await strip.boundingBox()) ?? {};
  expect(height).toBeLessThan(400);
  await strip.hover({ position: { x: 400, y: 120 } });
  await page.mouse.wheel(0, 400);
  await expect(page.locator('[data-seq="900"]')).toBeVisible();
  await page.keyboard.press('ArrowRight');
  await expect(strip).toHaveAttribute('aria-valuenow', '901');
});

test('recorded content is text, characters that would act are shown, and much of it is cut', async ({
  page,
  crowded: studio,
}) => {
  await at(page, studio, `/s/${encodeURIComponent(strangeId)}/main@head?panel=knew`);
  const panel = panelOf(page);
  await expect(panel).toContainText('<script>document.title');
  await expect(panel).toContainText('U+202E');
  await expect(panel).toContainText('U+001B');
  await expect(page).not.toHaveTitle('owned');
  expect(await panel.locator('a, img, script').count()).toBe(0);
  expect(await page.locator('*').count()).toBeLessThan(4_000);
  expect(decodeURIComponent(page.url())).toContain(strangeId);
  await page.keyboard.press('5');
  await expect(panel).toContainText('onerror=');
});

test('a branch that waits for a person is answered on its page, goes on, and is stopped by a key', async ({
  page,
  crowded: studio,
}) => {
  await at(page, studio, '/s/approval/main@head');
  const waiting = page.locator('[data-part=waiting]');
  await expect(waiting).toContainText('support asks for approval');
  await waiting.getByRole('button', { name: 'Approve' }).click();
  const banner = page.locator('[data-part=run-banner]');
  await expect(banner.locator('[data-part=question]')).toContainText('refund');
  await expect(waiting).toHaveCount(0);
  await expect(page.locator('[data-part=point]')).toContainText('main@8 of 8');
  await page.keyboard.press('Control+.');
  await expect(banner).toContainText('ended: aborted');
});
