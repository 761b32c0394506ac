/** The program of `npm run pictures`: makes every screen and state of the studio, in both themes and sizes, into `docs/images`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from '@playwright/test';
import packed from '@sparticuz/chromium';
import { type EventDraft, openReprise, type Session } from '../src/index.ts';
import { browserArguments } from '../test/studio/browser.ts';
import { busyStory } from '../test/studio/busy-story.ts';
import { Folder, type RunningStudio, startServer, startStudio } from '../test/studio/studio-process.ts';
import { palettePng } from './palette-png.ts';

const target = fileURLToPath(new URL('../docs/images', import.meta.url));
const sizes = { '1280': { width: 1280, height: 800 }, '1920': { width: 1920, height: 1080 } } as const;
const themes = ['light', 'dark'] as const;
/** The largest file that the repository takes. */
const bytesMax = 262_144;

/** A picture: where it is, and what to do first. */
interface Picture {
  readonly path: string;
  /** Prepares the page before it opens. */
  readonly before?: (page: Page) => Promise<void>;
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
  'compare-three': { path: '/s/refund/main@9?with=refund%2Fcareful&with=refund%402' },
  tree: { path: '/s/refund/tree' },
  store: { path: '/store', act: (page) => page.locator('.store-verdict').waitFor() },
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
    args: browserArguments,
  });
  try {
    for (const [name, picture] of Object.entries(pictures)) await make(browser, studio, name, picture);
    await runningOne(browser, studio);
    await experimentTable(browser, studio);
    await readOnly(browser, folder);
    await emptyStore(browser);
    await serverGone(browser, studio);
  } finally {
    await browser.close();
    await studio.stop();
  }
}

/** Makes the picture of a run that asks something. */
async function runningOne(browser: Browser, studio: RunningStudio): Promise<void> {
  const page = await browser.newPage();
  await page.goto(studio.url('/s/refund/main@2'));
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
  await page.keyboard.press('f');
  await page.getByRole('button', { name: '+ system' }).click();
  await page.locator('.cm-content').click();
  await page.keyboard.type('You are a support agent. Look the order up before you refund it.');
  for (const tool of await page.locator('.fate-simulate input').all()) await tool.check();
  await page.getByRole('button', { name: /Experiment/ }).click();
  await page.getByRole('button', { name: 'Open the table' }).first().click();
  await page.waitForURL(/experiment/);
  await make(browser, studio, 'experiment', { path: new URL(page.url()).pathname });
  await page.close();
}

/** Makes the picture of a token that only reads. */
async function readOnly(browser: Browser, folder: Folder): Promise<void> {
  const { token } = JSON.parse(folder.run('token', 'create', '--can', 'read', '--json')) as { token: string };
  const { origin, stop } = await startServer(folder, '--port', '0');
  const url = (path: string): string => `${origin}${path}#token=${token}`;
  try {
    await make(browser, { url }, 'read-only', { path: '/s/refund/main@4', act: press('?') });
    await make(browser, { url: (path) => `${origin}${path}` }, 'token', { path: '/' });
  } finally {
    await stop();
  }
}

/** Makes the picture of a page whose server went. */
async function serverGone(browser: Browser, studio: RunningStudio): Promise<void> {
  const pages = await Promise.all(
    variants.map(async (variant) => ({ ...variant, page: await opened(browser, studio, variant, '/s/refund/main@4') })),
  );
  await studio.stop();
  for (const { page, name } of pages) {
    await page.locator('[data-part=away]').waitFor();
    await keep(page, join(target, `studio-away-${name}`));
    await page.close();
  }
  console.log('studio-away');
}

/** Records the sessions that are shown: the story of the demo, a long day of several agents, and hostile content. */
async function fill(folder: Folder): Promise<void> {
  folder.run('demo', '--store', folder.store);
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
  folder.run('set', 'erased', 'address', '"7 Mill Lane"');
  folder.run('erase', 'erased@1', '--reason', 'personal data', '--yes');
  await using reprise = await openReprise({ store: folder.store, config: false });
  await recordRelease(await reprise.session('release', { create: true }));
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

/** Records agents that prepare a release: what they believe, their goal, a test that fails, an answer in Markdown. */
async function recordRelease(session: Session): Promise<void> {
  const who = { agent: 'planner', run: 'run-1', turn: 1 };
  const plan =
    '## Plan\n\n1. Run the tests of `billing`\n2. **Fix** what fails\n3. Publish, then say so\n\n> No new feature.';
  const messages = [{ role: 'user', content: 'Prepare release 2.4. Change no public names.' }];
  await session.append([
    { type: 'run.started', ...who, data: { title: 'Prepare release 2.4' } },
    {
      type: 'call.started',
      id: 'plan',
      ...who,
      data: { call: 'plan', kind: 'model', name: 'large-1', request: { messages } },
    },
    {
      type: 'call.ended',
      cause: 'plan',
      ...who,
      data: {
        call: 'plan',
        kind: 'model',
        name: 'large-1',
        outcome: 'ok',
        latencyMs: 2_100,
        usage: { inputTokens: 812, outputTokens: 64 },
        message: { role: 'assistant', content: plan },
      },
    },
  ]);
  const { coding } = session;
  await coding.goal({ title: 'Release 2.4', description: 'Every test of billing passes.' });
  await coding.constraint({ key: 'public_names', value: false, text: 'Change no public names.' });
  const failures = [{ testId: 'billing/round.test.ts > rounds half a cent up', message: 'expected 0.51, got 0.50' }];
  await coding.testRun({ command: 'vitest run billing', exitCode: 1, framework: 'vitest', failures });
  await coding.patch({ file: 'billing/round.ts', before: 'Math.floor(cents)\n', after: 'Math.round(cents)\n' });
  await coding.decision({ decision: 'Round half up, as the invoice does' });
  await session.beliefs.commit({ agent: 'planner', topic: 'release', claim: 'Version 2.4 goes out today' });
  await session.beliefs.commit({
    agent: 'tester',
    topic: 'billing',
    claim: 'Rounding is wrong',
    kind: 'fact',
    trust: 0.8,
  });
  await session.beliefs.commit({ agent: 'tester', topic: 'billing', claim: 'Only euros are affected', kind: 'fact' });
}

/** The sizes and themes of every picture. */
const variants = Object.entries(sizes).flatMap(([size, viewport]) =>
  themes.map((colorScheme) => ({ name: `${size}-${colorScheme}`, viewport, colorScheme })),
);

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
  await page.waitForTimeout(1_000);
  return page;
}

async function make(
  browser: Browser,
  studio: Pick<RunningStudio, 'url'>,
  name: string,
  { path, before, act }: Picture,
): Promise<void> {
  for (const variant of variants) {
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
