/**
 * The program of `npm run pictures`: makes every screen and state of the studio, in both themes and sizes, into
 * `docs/images`. With names, such as `npm run pictures -- run
 * keys-1280-light`, it makes only those.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from '@playwright/test';
import packed from '@sparticuz/chromium';
import { browserArguments } from '../test/studio/browser.ts';
import { Folder, type RunningStudio, startServer, startStudio } from '../test/studio/studio-process.ts';
import { palettePng } from './palette-png.ts';
import { recordHistories } from './picture-histories.ts';

const target = fileURLToPath(new URL('../docs/images', import.meta.url));
const sizes = { '1280': { width: 1280, height: 800 }, '1920': { width: 1920, height: 1080 } } as const;
const phone = { '390': { width: 390, height: 844 } } as const;
const themes = ['light', 'dark'] as const;
/** The largest file that the repository takes. */
const bytesMax = 262_144;

/** Returns some sizes in both themes. */
const inThemes = (of: Readonly<Record<string, { readonly width: number; readonly height: number }>>) =>
  Object.entries(of).flatMap(([size, viewport]) =>
    themes.map((colorScheme) => ({ name: `${size}-${colorScheme}`, viewport, colorScheme })),
  );

/** The sizes and themes of every picture, apart from those of a phone. */
const variants = inThemes(sizes);

/** The pictures to make; all of them if none is named. */
const wanted = new Set(process.argv.slice(2));
const isWanted = (name: string): boolean =>
  wanted.size === 0 || wanted.has(name) || variants.some((variant) => wanted.has(`${name}-${variant.name}`));
const isVariantWanted = (name: string, variant: string): boolean =>
  wanted.size === 0 || wanted.has(name) || wanted.has(`${name}-${variant}`);

/** A picture: where it is, and what to do first. */
interface Picture {
  readonly path: string;
  /** Prepares the page before it opens. */
  readonly before?: (page: Page) => Promise<void>;
  readonly act?: (page: Page) => Promise<void>;
  /** Whether it is as wide as a phone. */
  readonly onPhone?: boolean;
}

/** Pictures that need the runs of the others: branches side by side. */
const later: Readonly<Record<string, Picture>> = {
  'compare-three': { path: '/s/refund/main@9?with=refund%2Fcareful&with=refund%2Fwatched' },
  tree: { path: '/s/refund/tree' },
};

const pictures: Readonly<Record<string, Picture>> = {
  sessions: { path: '/' },
  run: { path: '/s/refund/main@4' },
  'run-long': { path: '/s/long-day/main@900' },
  'run-zoomed': { path: '/s/long-day/main@202?range=180-260' },
  'run-filtered': { path: '/s/long-day/main@202?filter=outcome%3Derror' },
  answer: { path: '/s/refund/main@6?panel=answer' },
  knew: { path: '/s/long-day/main@205?panel=knew' },
  why: { path: '/s/long-day/main@258?panel=why' },
  raw: { path: '/s/refund/main@6?panel=raw' },
  beliefs: { path: '/s/release/main@head?panel=knew' },
  markdown: {
    path: '/s/release/main@3',
    act: async (page) => page.getByRole('button', { name: 'as Markdown' }).first().click(),
  },
  hostile: { path: '/s/hostile/main@head?panel=knew' },
  erased: { path: '/s/erased/main@1?panel=raw' },
  loading: {
    path: '/s/long-day/main@900',
    before: async (page) => {
      // Nothing of the index arrives.
      await page.route('**/*/ReadIndex', () => undefined);
    },
  },
  fork: {
    path: '/s/refund/main@2',
    act: async (page) => {
      await page.keyboard.press('f');
      await page.getByRole('button', { name: '+ system' }).click();
      await page.locator('.cm-content').click();
      await page.keyboard.type('You are a support agent. Look the order up before you refund it.');
      await page.waitForTimeout(1_200);
    },
  },
  compare: { path: '/s/refund/main@9?with=refund%2Fcareful' },
  approval: { path: '/s/approval/main@head' },
  phone: { path: '/s/refund/main@4', onPhone: true },
  'phone-sessions': { path: '/', onPhone: true },
  store: { path: '/store', act: (page) => page.locator('.store-verdict').waitFor() },
  keys: {
    path: '/s/refund/main@4',
    act: async (page) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
  },
  palette: {
    path: '/s/refund/main@4',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
    },
  },
  failure: { path: '/s/refnud/main@4' },
};

await makeAll();

async function makeAll(): Promise<void> {
  if (wanted.size === 0) rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  using folder = new Folder();
  await recordHistories(folder);
  const studio = await startStudio(folder);
  const browser = await chromium.launch({
    executablePath: await packed.executablePath(),
    args: browserArguments,
  });
  try {
    for (const [name, picture] of Object.entries(pictures)) await make(browser, studio, name, picture);
    if (['running', 'runs', 'compare-three', 'tree'].some(isWanted)) await runningOne(browser, studio);
    if (['experiment', 'tree'].some(isWanted)) await experimentTable(browser, studio);
    for (const [name, picture] of Object.entries(later)) await make(browser, studio, name, picture);
    if (isWanted('exported')) await exportedPage(browser, folder);
    if (['read-only', 'token', 'back'].some(isWanted)) await served(browser, folder);
    if (isWanted('first-run')) await emptyStore(browser);
    if (isWanted('away')) await serverGone(browser, studio);
  } finally {
    await browser.close();
    await studio.stop();
  }
}

/** Makes the picture of a run that asks something. */
async function runningOne(browser: Browser, studio: RunningStudio): Promise<void> {
  const page = await browser.newPage();
  await page.goto(studio.url('/s/refund/main@2'));
  await page.locator('[data-part=fork]').waitFor();
  await page.keyboard.press('f');
  await page.getByRole('button', { name: '+ system' }).click();
  await page.locator('.cm-content').click();
  await page.keyboard.type('You are a support agent. Look the order up before you refund it.');
  await page.locator('[data-part=drawer]').getByLabel('name').fill('watched');
  await page.locator('[data-part=fork-and-run]').click();
  await page.locator('[data-part=question]').first().waitFor();
  await make(browser, studio, 'running', { path: '/s/refund/watched@head' });
  await make(browser, studio, 'runs', { path: '/runs' });
  await page.locator('[data-part=question]').first().getByRole('button', { name: 'Run' }).click();
  await page.locator('[data-part=run-banner]').getByText('ended').waitFor();
  await page.close();
}

/** Makes the picture of an experiment: two prompts, twice each. */
async function experimentTable(browser: Browser, studio: RunningStudio): Promise<void> {
  const page = await browser.newPage();
  await page.goto(studio.url('/s/refund/main@2'));
  await page.locator('[data-part=fork]').waitFor();
  await page.keyboard.press('f');
  await page.getByRole('button', { name: '+ system' }).click();
  await page.locator('.cm-content').click();
  await page.keyboard.type('You are a support agent. Look the order up before you refund it.');
  for (const tool of await page.locator('.fate-simulate input').all()) await tool.check();
  await page.getByRole('button', { name: 'As an experiment' }).click();
  await page.getByLabel('passes if the answer says').fill('refunded 50.');
  await page.getByRole('button', { name: /Experiment/ }).click();
  await page.getByRole('button', { name: 'Open the table' }).first().click();
  await page.waitForURL(/experiment/);
  await make(browser, studio, 'experiment', { path: new URL(page.url()).pathname });
  await page.close();
}

/** Makes the picture of a run that was exported as one file, after it verified itself. */
async function exportedPage(browser: Browser, folder: Folder): Promise<void> {
  const file = join(folder.path, 'refund.html');
  folder.run('export', 'refund', '--format', 'html', '--to', file);
  const url = (path: string): string => `${pathToFileURL(file).href}#${path}`;
  await make(browser, { url }, 'exported', {
    path: '/s/refund/main@8?panel=raw',
    act: async (page) => {
      await page.getByRole('button', { name: 'Verify up to here' }).click();
      await page.getByText('the chain holds').waitFor();
    },
  });
}

/** Makes the pictures of a server: a token that only reads, none at all, and a server that is back. */
async function served(browser: Browser, folder: Folder): Promise<void> {
  const { token } = JSON.parse(folder.run('token', 'create', '--can', 'read', '--json')) as { token: string };
  const { origin, stop } = await startServer(folder, '--port', '0');
  const url = (path: string): string => `${origin}${path}#token=${token}`;
  try {
    await make(browser, { url }, 'read-only', {
      path: '/s/refund/main@4',
      act: async (page) => {
        await page.keyboard.press('?');
        await page.getByRole('dialog').waitFor();
      },
    });
    await make(browser, { url: (path) => `${origin}${path}` }, 'token', { path: '/' });
  } finally {
    await stop();
  }
  if (isWanted('back')) await serverBack(browser, folder, { port: new URL(origin).port, url });
}

/** Makes the picture of a page whose server went and came back. */
async function serverBack(
  browser: Browser,
  folder: Folder,
  { port, url }: { readonly port: string; readonly url: (path: string) => string },
): Promise<void> {
  for (const variant of variants.filter(({ name }) => isVariantWanted('back', name))) {
    const before = await startServer(folder, '--port', port);
    const page = await opened(browser, { url }, variant, '/s/refund/main@4');
    await before.stop();
    await page.locator('[data-part=away]').waitFor();
    const after = await startServer(folder, '--port', port);
    await page.getByText('The server is back').waitFor();
    await keep(page, join(target, `studio-back-${variant.name}`));
    await page.close();
    await after.stop();
  }
  console.log('studio-back');
}

/** Makes the picture of a page whose server went. */
async function serverGone(browser: Browser, studio: RunningStudio): Promise<void> {
  const pages: { readonly page: Page; readonly name: string }[] = [];
  for (const variant of variants.filter(({ name }) => isVariantWanted('away', name)))
    pages.push({ name: variant.name, page: await opened(browser, studio, variant, '/s/refund/main@4') });
  await studio.stop();
  for (const { page, name } of pages) {
    await page.locator('[data-part=away]').waitFor();
    await keep(page, join(target, `studio-away-${name}`));
    await page.close();
  }
  console.log('studio-away');
}

async function opened(
  browser: Browser,
  { url }: Pick<RunningStudio, 'url'>,
  { viewport, colorScheme }: Pick<(typeof variants)[number], 'viewport' | 'colorScheme'>,
  path: string,
  before?: Picture['before'],
): Promise<Page> {
  const page = await browser.newPage({ viewport, colorScheme, reducedMotion: 'reduce' });
  await before?.(page);
  await page.goto(url(path));
  await page.locator('.bar').waitFor();
  // A live page is never quite idle.
  await page.waitForLoadState('networkidle', { timeout: 4_000 }).catch(() => undefined);
  await page.waitForTimeout(700);
  return page;
}

async function make(
  browser: Browser,
  studio: Pick<RunningStudio, 'url'>,
  name: string,
  { path, before, act, onPhone = false }: Picture,
): Promise<void> {
  if (!isWanted(name)) return;
  for (const variant of onPhone ? inThemes(phone) : variants) {
    if (!isVariantWanted(name, variant.name)) continue;
    const page = await opened(browser, studio, variant, path, before);
    await act?.(page);
    await keep(page, join(target, `studio-${name}-${variant.name}`));
    await page.close();
  }
  console.log(`studio-${name}`);
}

/** Keeps a picture, with as few colors as it needs. One that is still too large for the repository loses sharpness. */
async function keep(page: Page, path: string): Promise<void> {
  const picture = palettePng(await page.screenshot());
  if (picture.length <= bytesMax) writeFileSync(`${path}.png`, picture);
  else writeFileSync(`${path}.jpg`, await page.screenshot({ type: 'jpeg', quality: 75 }));
}

/** Makes the picture of a store without sessions. */
async function emptyStore(browser: Browser): Promise<void> {
  using folder = new Folder();
  folder.run('doctor', '--create');
  const studio = await startStudio(folder);
  try {
    await make(browser, studio, 'first-run', { path: '/' });
  } finally {
    await studio.stop();
  }
}
