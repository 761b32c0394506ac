/** The pages of `reprise serve`: a token that only reads, one that is revoked, and a server that goes and comes back. */
import type { Page } from '@playwright/test';
import { startServer as startPostgres } from '../postgres/server.ts';
import { type Folder, startServer } from './studio-process.ts';
import { expect, panelOf, test } from './studio-test.ts';

/** Makes a token with some rights. */
function makeToken(
  folder: Folder,
  can: string,
  store: string = folder.store,
): { readonly id: string; readonly token: string } {
  return JSON.parse(folder.run('token', 'create', '--can', can, '--json', '--store', store)) as {
    id: string;
    token: string;
  };
}

async function openWith(page: Page, origin: string, token: string, path: string): Promise<void> {
  await page.goto(`${origin}${path}`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Open' }).click();
}

test('on PostgreSQL, a token that only reads shows everything and offers no change, until it is revoked', async ({
  page,
  folder,
}) => {
  const postgres = await startPostgres({ isInMemory: true });
  const store = postgres.url();
  folder.run('demo', '--store', store);
  const { id, token } = makeToken(folder, 'read', store);
  const server = await startServer(folder, '--port', '0', '--store', store);
  try {
    await openWith(page, server.origin, token, '/s/refund/main@4');
    await expect(panelOf(page)).toContainText('Order 7');
    await expect(page.locator('[data-part=fork]')).toHaveCount(0);
    await expect(page.locator('[data-part=change-menu]')).toHaveCount(0);
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog')).toContainText('This token only reads');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Shift+ArrowRight');
    await expect(page.locator('.context-row[data-mark=new]')).toHaveCount(2);
    await page.goto(`${server.origin}/s/refund/main@9?with=refund%2Fcareful`);
    await expect(page.locator('[data-part=verdict]')).toContainText('changed');
    folder.run('token', 'revoke', id, '--store', store);
    // A server remembers a token for a moment.
    await expect(async () => {
      await page.reload();
      await expect(page.locator('[data-part=token]')).toBeVisible({ timeout: 2_000 });
    }).toPass({ timeout: 90_000 });
  } finally {
    await server.stop();
    await postgres.stop();
  }
});

test('a server that goes leaves the page readable and the draft open, and the page goes on when it is back', async ({
  page,
  folder,
}) => {
  const { token } = makeToken(folder, 'read,append');
  const first = await startServer(folder, '--port', '0');
  const { port } = new URL(first.origin);
  await openWith(page, first.origin, token, '/s/refund/main@4');
  await expect(page.locator('[data-part=fork]')).toBeVisible();
  await page.keyboard.press('f');
  const drawer = page.locator('[data-part=drawer]');
  await drawer.getByLabel('name').fill('patient');
  await first.stop();
  await expect(page.locator('[data-part=away]')).toContainText('trying again');
  await expect(page.locator('[data-seq="4"]')).toBeVisible();
  await drawer.locator('[data-part=only-fork]').click();
  await expect(page.getByText('the draft is kept')).toBeVisible();
  const second = await startServer(folder, '--port', port);
  try {
    await expect(page.locator('[data-part=away]')).toHaveCount(0, { timeout: 30_000 });
    await expect(drawer.getByLabel('name')).toHaveValue('patient');
    await drawer.locator('[data-part=only-fork]').click();
    await expect(page).toHaveURL(/\/s\/refund\/patient@/);
  } finally {
    await second.stop();
  }
});
