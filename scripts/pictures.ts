/** The program of `npm run pictures`: makes every screen and state of the studio, in both themes and sizes, into `docs/images`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from '@playwright/test';
import packed from '@sparticuz/chromium';
import { type EventDraft, openReprise } from '../src/index.ts';
import { busyStory } from '../test/studio/busy-story.ts';
import { Folder, type RunningStudio, startStudio } from '../test/studio/studio-process.ts';

const target = fileURLToPath(new URL('../docs/images', import.meta.url));
const sizes = { '1280': { width: 1280, height: 800 }, '1920': { width: 1920, height: 1080 } } as const;
const themes = ['light', 'dark'] as const;
/** The largest file that the repository takes. */
const bytesMax = 262_144;

/** A picture: where it is, and what to do first. */
interface Picture {
  readonly path: string;
  readonly act?: (page: Page) => Promise<void>;
}

const press =
  (...keys: readonly string[]) =>
  async (page: Page): Promise<void> => {
    for (const key of keys) {
      await page.keyboard.press(key);
      await page.waitForTimeout(250);
    }
  };

const pictures: Readonly<Record<string, Picture>> = {
  sessions: { path: '/' },
  run: { path: '/s/refund/main@4' },
  'run-long': { path: '/s/long-day/main@900' },
  'run-zoomed': { path: '/s/long-day/main@206?range=180-260' },
  'run-filtered': { path: '/s/long-day/main@206?filter=outcome%3Derror' },
  answer: { path: '/s/refund/main@6?panel=answer' },
  knew: { path: '/s/long-day/main@206?panel=knew' },
  why: { path: '/s/refund/main@6?panel=why' },
  raw: { path: '/s/refund/main@6?panel=raw' },
  hostile: { path: '/s/hostile/main@head?panel=knew' },
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
  'compare-three': { path: '/s/refund/main@9?with=refund%2Fcareful&with=refund%402' },
  tree: { path: '/s/refund/tree' },
  runs: { path: '/runs' },
  store: { path: '/store' },
  keys: { path: '/s/refund/main@4', act: press('?') },
  palette: { path: '/s/refund/main@4', act: press('Control+k') },
  failure: { path: '/s/refnud/main@4' },
};

await makeAll();

async function makeAll(): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  using folder = new Folder();
  await fill(folder);
  const studio = await startStudio(folder);
  const browser = await chromium.launch({
    executablePath: await packed.executablePath(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  try {
    for (const [name, picture] of Object.entries(pictures)) await make(browser, studio, name, picture);
    await emptyStore(browser);
  } finally {
    await browser.close();
    await studio.stop();
  }
}

/** Records the sessions that are shown: the story of the demo, a long day of several agents, and hostile content. */
async function fill(folder: Folder): Promise<void> {
  folder.run('demo', '--store', 'sqlite:.reprise/reprise.db');
  folder.run(
    'set',
    'hostile',
    'content',
    JSON.stringify({
      script: '<script>alert(1)</script>',
      end: '</script>',
      bidi: 'safe \u202egnp.exe',
      escape: '\u001b[31mred',
      long: 'x'.repeat(3_000),
    }),
  );
  await using reprise = await openReprise({
    store: `sqlite:${join(folder.path, '.reprise/reprise.db')}`,
    config: false,
  });
  const session = await reprise.session('long-day', { create: true });
  let batch: EventDraft[] = [];
  for (const event of busyStory(2_000)) {
    batch.push(event);
    if (batch.length < 500) continue;
    await session.append(batch);
    batch = [];
  }
  await session.append(batch);
}

async function make(browser: Browser, studio: RunningStudio, name: string, { path, act }: Picture): Promise<void> {
  for (const [size, viewport] of Object.entries(sizes))
    for (const colorScheme of themes) {
      const page = await browser.newPage({ viewport, colorScheme, reducedMotion: 'reduce' });
      await page.goto(studio.url(path));
      await page.waitForTimeout(1_000);
      await act?.(page);
      await keep(page, join(target, `studio-${name}-${size}-${colorScheme}`));
      await page.close();
    }
  console.log(`studio-${name}`);
}

/** Keeps a picture. One that is too large for the repository loses sharpness. */
async function keep(page: Page, path: string): Promise<void> {
  const picture = await page.screenshot();
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
