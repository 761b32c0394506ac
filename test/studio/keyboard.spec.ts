/** The whole story by keyboard alone, and in two tabs at once. */
import type { Locator, Page } from '@playwright/test';
import { expect, open, panelOf, test } from './studio-test.ts';

/** Goes on with Tab until something has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target.first()).toBeVisible();
  for (let presses = 0; presses < 120; presses++) {
    if ((await target.first().and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab never reached ${target.toString()}`);
}

test('the story by keyboard alone: find, read, change, run, answer, compare, tree', async ({ page, studio }) => {
  await open(page, studio, '/?q=refund');
  await expect(page.locator('[data-part=sessions]')).toContainText('Refund of order 7');
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-seq="9"]')).toBeVisible();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await expect(page).toHaveURL(/main@2/);
  await expect(page.locator('[data-part=fork]')).toBeVisible();
  await page.keyboard.press('f');
  const drawer = page.locator('[data-part=drawer]');
  await tabTo(page, drawer.getByRole('button', { name: '+ system' }));
  await page.keyboard.press('Enter');
  await tabTo(page, drawer.locator('.cm-content'));
  await page.keyboard.type('Look the order up before you refund it.');
  await tabTo(page, drawer.getByLabel('name'));
  await page.keyboard.type('by-keys');
  await page.keyboard.press('Control+Enter');
  await expect(page).toHaveURL(/\/s\/refund\/by-keys@/);
  await tabTo(page, page.locator('[data-part=question]').first().getByRole('button', { name: 'Run' }));
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-part=run-banner]')).toContainText('ended: ok');
  await tabTo(page, page.getByRole('button', { name: 'compare with the original' }));
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-part=verdict]')).toContainText('changed');
  await page.keyboard.press('d');
  await expect(page.locator('.pair[data-selected]')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('[data-part=point]')).toBeVisible();
  await page.keyboard.press('t');
  await expect(page.locator('[data-part=tree]')).toContainText('by-keys');
});

test('two tabs share what is live: a note of one arrives in the other', async ({ page, studio, context }) => {
  await open(page, studio, '/s/refund/careful@9');
  const other = await context.newPage();
  await open(other, studio, '/s/refund/careful@9');
  await expect(other.locator('[data-seq="9"]')).toBeVisible();
  await page.locator('[data-part=change-menu]').click();
  await page.getByRole('menuitem', { name: 'Add a note' }).click();
  await page.locator('[data-part=change] input').fill('Seen in both tabs');
  await page.getByRole('button', { name: 'Add the note' }).click();
  for (const tab of [page, other]) await expect(tab.locator('.row', { hasText: 'Seen in both tabs' })).toBeVisible();
  await other.close();
  await page.keyboard.press('End');
  await expect(panelOf(page)).toBeVisible();
});
