/** Closed by default: tokens, foreign pages, recorded content that tries to act. */
import { Folder, startStudio } from './studio-process.ts';
import { expect, open, test } from './studio-test.ts';

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

const evil = {
  script: '<script>document.title = "owned"</script><img src=x onerror="document.title=\'owned\'">',
  end: '</script></style>-->',
  escape: 'red \u001b[31m and \u202egnp.exe',
  link: '[click](javascript:alert(1)) https://evil.example',
};

test('recorded content is text, and characters that would act are shown', async ({ page }) => {
  using folder = new Folder();
  folder.run('set', 'hostile', 'content', JSON.stringify(evil));
  const studio = await startStudio(folder);
  try {
    await open(page, studio, '/s/hostile/main@head?panel=knew');
    const panel = page.locator('[data-part=panel]');
    await expect(panel).toContainText('<script>document.title');
    await expect(panel).toContainText('U+202E');
    await expect(panel).toContainText('␛');
    await expect(page).not.toHaveTitle('owned');
    expect(await panel.locator('a, img, script').count()).toBe(0);
  } finally {
    await studio.stop();
  }
});

test('a store without sessions says how to begin', async ({ page }) => {
  using folder = new Folder();
  folder.run('doctor', '--create');
  const studio = await startStudio(folder);
  try {
    await open(page, studio, '/');
    await expect(page.locator('[data-part=first-run]')).toContainText('npx reprise demo');
  } finally {
    await studio.stop();
  }
});
