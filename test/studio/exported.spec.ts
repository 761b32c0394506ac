/** An exported page: one file that opens from a disk, reads without a server, and verifies itself. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateSync, inflateSync } from 'node:zlib';
import { expect, panelOf, test } from './studio-test.ts';

test('an exported page opens from a disk, shows the run, compares, and verifies itself', async ({ page, folder }) => {
  const file = join(folder.path, 'refund.html');
  folder.run('export', 'refund', '--format', 'html', '--to', file);
  const asked: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith('file:') && !request.url().startsWith('data:')) asked.push(request.url());
  });
  await page.goto(pathToFileURL(file).href);
  await expect(page.locator('[data-part=point]')).toContainText('main@9');
  await page.keyboard.press('Shift+ArrowLeft');
  await expect(panelOf(page)).toContainText('New since the call at @3');
  await expect(page.locator('[data-part=fork]')).toHaveCount(0);
  await page.keyboard.press('5');
  await page.getByRole('button', { name: 'Verify up to here' }).click();
  await expect(panelOf(page)).toContainText('the chain holds');
  await page.keyboard.press('t');
  await expect(page.locator('[data-part=tree]')).toContainText('careful');
  await page.goto(`${pathToFileURL(file).href}#/s/refund/main@9?with=refund%2Fcareful`);
  await expect(page.locator('[data-part=verdict]')).toContainText('changed');
  expect(asked).toEqual([]);
});

test('an exported page whose history was forged shows nothing of it, and says why', async ({ page, folder }) => {
  const file = join(folder.path, 'forged.html');
  folder.run('export', 'refund', '--format', 'html', '--to', file);
  const block = /(?<=<script type="application\/octet-stream">)[^<]*(?=<\/script>)/;
  writeFileSync(file, readFileSync(file, 'utf8').replace(block, forged));
  await page.goto(pathToFileURL(file).href);
  await expect(page.locator('#app')).toContainText('do not match its digest');
  await expect(page.locator('[data-seq]')).toHaveCount(0);
});

/** Changes one digit in the payloads of a page. They come after the first line. */
function forged(block: string): string {
  const text = inflateSync(Buffer.from(block, 'base64')).toString();
  const end = text.indexOf('\n');
  const payloads = text.slice(end).replace(/\d/, (digit) => String((Number(digit) + 1) % 10));
  return deflateSync(text.slice(0, end) + payloads).toString('base64');
}
