/** Closed by default: tokens, foreign pages, recorded content that tries to act. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Folder, startStudio } from './studio-process.ts';
import { expect, open, panelOf, test } from './studio-test.ts';

test('the token leaves the address at once, and nothing is read without it', async ({ page, studio }) => {
  await open(page, studio, '/s/refund/main@4');
  expect(page.url()).not.toContain(studio.token);
  const fresh = await page.context().browser()?.newPage();
  if (fresh === undefined) throw new Error('There is no browser');
  await fresh.goto(`${studio.origin}/`);
  await expect(fresh.locator('[data-part=token]')).toContainText('needs a token');
  await fresh.close();
});

test('no page of a different site may call in or frame it', async ({ studio, request }) => {
  const call = `${studio.origin}/reprise.v1.StudioService/ReadSessions`;
  const headers = { authorization: `Bearer ${studio.token}`, 'content-type': 'application/json' };
  expect((await request.post(call, { headers, data: {} })).status()).toBe(200);
  expect(
    (await request.post(call, { headers: { ...headers, origin: 'https://evil.example' }, data: {} })).status(),
  ).toBe(403);
  expect((await request.post(call, { headers: { ...headers, host: 'evil.example' }, data: {} })).status()).toBe(403);
  expect((await request.post(call, { headers: { 'content-type': 'application/json' }, data: {} })).status()).toBe(401);
  const page = await request.get(`${studio.origin}/`);
  expect(page.headers()).toMatchObject({
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  expect(page.headers()['content-security-policy']).toContain("default-src 'none'");
});

test('a store without sessions imports a file and plays the story; a branch is deleted; a newer store is refused', async ({
  page,
}) => {
  using folder = new Folder();
  folder.run('doctor', '--create');
  const studio = await startStudio(folder, '--admin');
  try {
    await open(page, studio, '/');
    const first = page.locator('[data-part=first-run]');
    await expect(first).toContainText('npx reprise demo');
    await test.step('import', async () => {
      const saved = { messages: [{ role: 'user', content: 'Where is order 7?' }] };
      const buffer = Buffer.from(JSON.stringify(saved));
      await first
        .locator('input[type=file]')
        .setInputFiles({ name: 'saved.json', mimeType: 'application/json', buffer });
      await expect(panelOf(page)).toContainText('Where is order 7?');
    });
    await test.step('play the story, where nothing was recorded', async () => {
      await open(page, studio, '/?namespace=fresh');
      await page.locator('[data-part=play-story]').click();
      const question = page.locator('[data-part=question]').first();
      const banner = page.locator('[data-part=run-banner]');
      await expect(question.or(banner.getByText('ended')).first()).toBeVisible();
      if (await question.isVisible()) await question.getByRole('button', { name: 'Run' }).click();
      await expect(banner).toContainText('ended: ok');
    });
    await test.step('delete a branch', async () => {
      await page.keyboard.press('Home');
      await expect(page.locator('[data-part=fork]')).toBeVisible();
      await page.keyboard.press('f');
      await page.locator('[data-part=drawer]').getByLabel('name').fill('doomed');
      await page.locator('[data-part=only-fork]').click();
      await expect(page).toHaveURL(/\/s\/refund\/doomed@/);
      await page.keyboard.press('t');
      await page.locator('.tree-row', { hasText: 'doomed' }).hover();
      await page.keyboard.press('Delete');
      await page.getByRole('button', { name: 'Delete for good' }).click();
      await expect(page.locator('[data-part=tree]')).not.toContainText('doomed');
    });
    await test.step('a newer store', async () => {
      const database = new DatabaseSync(join(folder.path, '.reprise/reprise.db'));
      database.exec('PRAGMA user_version = 999');
      database.close();
      await page.reload();
      await expect(page.getByRole('alert').first()).toContainText('newer');
    });
  } finally {
    await studio.stop();
  }
});
