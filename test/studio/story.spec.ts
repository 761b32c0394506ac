/** The story: find the bad call, read what was new, change it, run it on, and read what became different. */
import { expect, open, panelOf, selectedPoint, test } from './studio-test.ts';

test('the list of sessions opens a session', async ({ page, studio }) => {
  await open(page, studio, '/');
  await expect(page).toHaveURL(/^[^#]*\/$/);
  const row = page.locator('[data-part=sessions] tbody tr').first();
  await expect(row).toContainText('Refund of order 7');
  await expect(row).toContainText('ok');
  await row.getByRole('link').click();
  await expect(page.locator('[data-part=point]')).toContainText('main@9');
  await expect(page.locator('[data-part=outcome]')).toContainText('ok');
});

test('everything follows the selected point, which is in the address', async ({ page, studio }) => {
  await open(page, studio, '/s/refund/main@4');
  await expect(panelOf(page)).toContainText('Order 7, the 500 ml mug, arrived broken');
  await expect(page.locator('[data-seq="4"]')).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Shift+ArrowRight');
  await expect(page).toHaveURL(/main@7$/);
  await expect(panelOf(page)).toContainText('New since the call at @3');
  const marks = page.locator('.context-row[data-mark=new]');
  await expect(marks).toHaveCount(2);
  await expect(marks.last()).toContainText('"refunded":500');
  await page.locator('[data-seq="5"]').click();
  await expect(page).toHaveURL(/main@5$/);
  await expect(page.locator('[data-part=facts]')).toContainText('irreversible');
  expect(await selectedPoint(page)).toBe('main@5');
  await expect(page.locator('[data-part=strip]')).toHaveAttribute('aria-valuenow', '5');
});

test('a word in the address becomes the point it means, and Back leaves the screen', async ({ page, studio }) => {
  await open(page, studio, '/');
  await page.locator('[data-part=sessions] tbody tr').first().click();
  await expect(page.locator('[data-seq="9"]')).toBeVisible();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect(page).toHaveURL(/main@7/);
  await page.goBack();
  await expect(page.locator('[data-part=sessions]')).toBeVisible();
  await page.goto(studio.url('/s/latest/main@turn:1'));
  await expect(page).toHaveURL(/\/s\/refund\/main@\d+$/);
});

test('the words of reprise replay filter the list, and what does not match is counted', async ({ page, studio }) => {
  await open(page, studio, '/s/refund/main@4');
  await page.keyboard.press('/');
  await page.keyboard.type('kind=tool');
  await expect(page.locator('.filter-count')).toHaveText('2 of 9');
  await expect(page.locator('.row')).toHaveCount(2);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('customer OR mug');
  await expect(page.locator('.filter-count')).toContainText('0 of 9');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('sorry');
  await expect(page.locator('.filter-count')).toHaveText('2 of 9');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('turn=x');
  await expect(page.getByRole('alert')).toContainText('is not a whole number');
});

test('every panel says what it knows', async ({ page, studio }) => {
  await open(page, studio, '/s/refund/main@6');
  const panel = panelOf(page);
  await page.keyboard.press('2');
  await expect(panel).toContainText('Returned');
  await expect(panel).toContainText('refunded');
  await page.keyboard.press('4');
  await expect(panel).toContainText('Because of');
  await expect(panel.locator('.event-line').first()).toContainText('run started');
  await page.keyboard.press('5');
  await panel.getByRole('button', { name: 'Verify up to here' }).click();
  await expect(panel).toContainText('the chain holds');
});

test('a fork with a changed result runs, asks, ends and is compared', async ({ page, studio }) => {
  await open(page, studio, '/s/refund/main@2');
  await expect(page.locator('[data-part=fork]')).toBeVisible();
  await page.keyboard.press('f');
  const drawer = page.locator('[data-part=drawer]');
  await drawer.getByRole('button', { name: '+ system' }).click();
  const editor = drawer.locator('.editor');
  await editor.locator('.cm-content').click();
  await page.keyboard.type('You are a support agent. Look the order up before you refund it.');
  await expect(drawer.locator('.context-row[data-mark=edited], .context-row[data-mark=new]').first()).toContainText(
    'Look',
  );
  await expect(drawer.locator('[data-part=fate]').first()).toContainText('refund');
  await drawer.getByLabel('name').fill('watched');
  await drawer.getByLabel('why').fill('it guessed the amount');
  await drawer.locator('[data-part=fork-and-run]').click();
  await expect(page).toHaveURL(/\/s\/refund\/watched@/);
  const question = page.locator('[data-part=question]').first();
  await expect(question).toContainText('refund');
  await expect(question).toContainText('irreversible');
  await expect(page.locator('[data-part=original]')).toContainText('main');
  await page.getByRole('button', { name: 'compare with the original' }).click();
  const pairs = page.locator('[data-part=pairs]');
  await expect(pairs).toContainText('lookup');
  await question.getByRole('button', { name: 'Run' }).click();
  await expect(page.locator('[data-part=run-banner]')).toContainText('ended: ok');
  await expect(pairs).toContainText('I refunded 50.');
  await expect(page.locator('[data-part=verdict]')).toContainText('changed');
  await page.keyboard.press('d');
  await expect(page.locator('.pair[data-selected]')).toBeVisible();
  await page.goto(studio.url('/s/refund/tree'));
  await expect(page.locator('[data-part=tree]')).toContainText('watched');
  await expect(page.locator('[data-part=tree]')).toContainText('it guessed the amount');
});

test('a draft survives a reload, and only forking runs nothing', async ({ page, studio }) => {
  await open(page, studio, '/s/refund/main@6');
  await page
    .getByRole('button', { name: 'change this' })
    .first()
    .or(page.getByRole('button', { name: 'Change this tool message' }))
    .first()
    .click();
  const drawer = page.locator('[data-part=drawer]');
  await expect(drawer.locator('.edit-line')).toHaveCount(1);
  await page.locator('[data-seq="5"]').click();
  await expect(drawer.locator('.edit-line')).toHaveCount(0);
  await page.locator('[data-seq="6"]').click();
  await expect(drawer.locator('.edit-line')).toHaveCount(1);
  await drawer.getByLabel('name').fill('kept');
  await page.reload();
  await expect(page.locator('[data-part=fork]')).toBeVisible();
  await page.keyboard.press('f');
  await expect(drawer.locator('.edit-line')).toHaveCount(1);
  await expect(drawer.getByLabel('name')).toHaveValue('kept');
  await drawer.locator('[data-part=only-fork]').click();
  await expect(page).toHaveURL(/\/s\/refund\/kept@/);
  await expect(page.locator('[data-part=run-banner]')).toHaveCount(0);
});

test('a note is added to the branch, and arrives without a reload', async ({ page, studio }) => {
  await open(page, studio, '/s/refund/careful@9');
  await page.locator('[data-part=change-menu]').click();
  await page.getByRole('menuitem', { name: 'Add a note' }).click();
  await page.locator('[data-part=change] input').fill('Here it looks the order up');
  await page.getByRole('button', { name: 'Add the note' }).click();
  await expect(page.locator('.row', { hasText: 'Here it looks the order up' })).toBeVisible();
});
