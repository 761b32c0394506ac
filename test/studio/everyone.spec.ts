/** The studio for everyone: axe on every screen, by keyboard, zoomed, narrow. */
import { expect, expectAccessible, open, panelOf, test } from './studio-test.ts';

const screens: Readonly<Record<string, string>> = {
  sessions: '/',
  run: '/s/refund/main@4',
  answer: '/s/refund/main@6?panel=answer',
  knew: '/s/refund/main@6?panel=knew',
  why: '/s/refund/main@6?panel=why',
  raw: '/s/refund/main@6?panel=raw',
  compare: '/s/refund/main@9?with=refund%2Fcareful',
  table: '/s/refund/main@9?with=refund%2Fcareful&with=refund%402',
  tree: '/s/refund/tree',
  runs: '/runs',
  store: '/store',
  'an unknown session': '/s/nobody/main@1',
};

for (const theme of ['light', 'dark'] as const)
  test(`axe finds nothing serious on any screen, ${theme}`, async ({ page, studio }) => {
    await page.emulateMedia({ colorScheme: theme });
    for (const [name, path] of Object.entries(screens))
      await test.step(name, async () => {
        await open(page, studio, path);
        await page.waitForTimeout(400);
        await expectAccessible(page);
      });
    await test.step('the drawer, the palette and the sheet', async () => {
      await open(page, studio, '/s/refund/main@4');
      await expect(page.locator('[data-part=fork]')).toBeVisible();
      await page.keyboard.press('f');
      await expect(page.locator('[data-part=drawer]')).toContainText('Before it runs');
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await page.keyboard.press('?');
      await expect(page.getByRole('dialog')).toContainText('Next error');
      await expectAccessible(page);
    });
  });

test('the palette goes to a ref, by keyboard alone', async ({ page, studio }) => {
  await open(page, studio, '/');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('refund/careful@7');
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-part=point]')).toContainText('careful@7');
  await page.keyboard.press('c');
  await expect(page.getByRole('option', { name: 'compare with main' })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-part=verdict]')).toContainText('changed');
  await page.keyboard.press('1');
  await expect(page.locator('.pair[data-selected]')).toBeVisible();
  await page
    .getByRole('button', { name: /fork at/ })
    .last()
    .click();
  await expect(page.locator('[data-part=drawer]')).toContainText('Fork at main@');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('next theme');
  await page.keyboard.press('Enter');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
});

test('single letters can be switched off', async ({ page, studio }) => {
  await open(page, studio, '/s/refund/main@4');
  await page.keyboard.press('?');
  await page.getByLabel('Single letters act as keys').uncheck();
  await page.keyboard.press('Escape');
  await expect(page.locator('[data-part=fork]')).toBeVisible();
  await page.keyboard.press('f');
  await expect(page.locator('[data-part=drawer]')).toHaveCount(0);
  await page.keyboard.press('ArrowRight');
  await expect(page).toHaveURL(/main@5/);
});

test('an unknown session names the nearest, and sessions sort by a column', async ({ page, studio }) => {
  await open(page, studio, '/s/refnud/main@4');
  await page.locator('[data-part=nearest]').getByRole('button', { name: 'refund', exact: true }).click();
  await expect(page.locator('[data-part=point]')).toContainText('main@9');
  await open(page, studio, '/s/refund/main@4?with=%40%40');
  await expect(page.getByRole('alert')).toContainText('@@');
  await open(page, studio, '/');
  await page.getByRole('button', { name: 'Cost' }).click();
  await expect(page).toHaveURL(/sort%3D-cost/);
  await expect(page.locator('th[aria-sort=descending]')).toContainText('Cost');
  await expect(page.locator('[data-part=sessions] tbody tr').first()).toContainText('Refund of order 7');
});

test('where there is room, Knew stands beside Context', async ({ page, studio }) => {
  await page.setViewportSize({ width: 1920, height: 1080 });
  await open(page, studio, '/s/refund/main@4');
  await expect(page.getByRole('region', { name: 'Knew' })).toBeVisible();
  await page.getByRole('button', { name: 'Knew beside' }).click();
  await expect(page.getByRole('region', { name: 'Knew' })).toHaveCount(0);
});

test('a narrow page and a zoomed one keep everything within reach', async ({ page, studio }) => {
  for (const size of [
    { width: 320, height: 700 },
    { width: 640, height: 400 },
  ]) {
    await page.setViewportSize(size);
    await open(page, studio, '/s/refund/main@4');
    await expect(panelOf(page)).toContainText('Order 7');
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow).toBeLessThanOrEqual(0);
  }
});
