/** The studio in a real browser, on a long history: how fast it opens, draws, scrolls, selects and follows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium, type Page } from '@playwright/test';
import packed from '@sparticuz/chromium';
import { type EventDraft, openReprise, type Session } from '../src/index.ts';
import { browserArguments } from '../test/studio/browser.ts';
import { busyStory } from '../test/studio/busy-story.ts';
import { Folder, startStudio } from '../test/studio/studio-process.ts';
import { atMost, forTheRecord, median, percentile, type Row } from './measure.ts';
import { exportRows, largeRow, recordLarge } from './studio-large.ts';
import { appendRow, floodRow, scrubRows } from './studio-live.ts';
import type { Workspace } from './workspace.ts';

const built = fileURLToPath(new URL('../dist/studio', import.meta.url));

/** Rows of the studio. They need `npm run build` first. */
export async function benchStudio({ sizes }: Workspace): Promise<Row[]> {
  if (!existsSync(join(built, 'index.html')))
    return [forTheRecord('studio', 'not measured', 'it is not built: run "npm run build" first')];
  const count = sizes.isQuick ? 2_000 : 100_000;
  using folder = new Folder();
  await using reprise = await openReprise({
    store: `sqlite:${join(folder.path, '.reprise/reprise.db')}`,
    config: false,
  });
  const session = await reprise.session('long-day', { create: true });
  await fill(session, count);
  await recordLarge(reprise);
  const studio = await startStudio(folder);
  const browser = await chromium.launch({
    executablePath: await packed.executablePath(),
    args: browserArguments,
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(studio.url('/s/long-day/main@100'));
    await page.locator('[data-seq="100"]').waitFor();
    const rows = [
      sizeRow(),
      ...(await openRows(page, studio.url)),
      ...(await lookRows(page)),
      ...(await scrubRows(page, sizes.scrubMs)),
      ...(await exportRows(browser, folder)),
      await largeRow(page, studio.url),
    ];
    await page.goto(studio.url('/s/long-day/main@100'));
    await page.locator('.run:not([data-loading]) [data-seq="100"]').waitFor();
    return [...rows, await appendRow(page, session), await floodRow(page, session, sizes.isQuick)];
  } finally {
    await browser.close();
    await studio.stop();
  }
}

async function fill(session: Session, count: number): Promise<void> {
  let batch: EventDraft[] = [];
  for (const event of busyStory(count)) {
    batch.push(event);
    if (batch.length < 1_000) continue;
    await session.append(batch);
    batch = [];
  }
  if (batch.length > 0) await session.append(batch);
}

/** The script and the sheet that the first view loads, as they are sent. */
function sizeRow(): Row {
  const page = readFileSync(join(built, 'index.html'), 'utf8');
  const assets = join(built, 'assets');
  const first = readdirSync(assets).filter((name) => /\.(?:js|css)$/.test(name) && page.includes(name));
  const bytes = first.reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0);
  return atMost({
    name: 'studio: first view, gzip, fonts apart',
    value: bytes / 1_000,
    limit: 250,
    unit: ' kB',
    detail: first.join(', '),
    cause: 'a library that only one screen needs is loaded with the first.',
  });
}

async function openRows(page: Page, url: (path: string) => string): Promise<Row[]> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    await page.goto('about:blank');
    const start = performance.now();
    await page.goto(url('/s/long-day/main@100'));
    await page.locator('[data-seq="100"][aria-selected=true]').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.locator('[data-seq="101"][aria-selected=true]').waitFor();
    times.push(performance.now() - start);
    await page.locator('.run:not([data-loading])').waitFor();
  }
  return [
    atMost({
      name: 'studio: opened to first scrub',
      value: median(times),
      limit: 1_000,
      unit: ' ms',
      detail: 'the middle of five, with snapshots',
      cause: 'browser, server and measurement share the cores.',
    }),
  ];
}

async function lookRows(page: Page): Promise<Row[]> {
  await page.evaluate(listening);
  const panel: number[] = [];
  for (let step = 0; step < 30; step++) {
    const start = performance.now();
    await page.keyboard.press('Shift+ArrowRight');
    await page.locator('.fading:not([data-stale])').first().waitFor();
    panel.push(performance.now() - start);
  }
  for (let step = 0; step < 20; step++) await page.keyboard.press(step < 10 ? 'w' : 's');
  const draws = await page.evaluate<number[]>('globalThis.draws');
  const frames = await page.evaluate<number[]>(scrolling);
  return [
    atMost({
      name: 'studio: a redraw of the strip, p95',
      value: percentile(draws, 0.95),
      limit: 8,
      unit: ' ms',
      detail: `${draws.length} redraws, while selecting and zooming`,
      cause: 'the browser draws in software here.',
    }),
    atMost({
      name: 'studio: a frame while scrolling the list, p95',
      value: percentile(frames, 0.95),
      limit: 20,
      unit: ' ms',
      detail: 'from end to end in 120 frames',
      cause: 'the browser draws in software here.',
    }),
    atMost({
      name: 'studio: a panel after selecting, p95',
      value: percentile(panel, 0.95),
      limit: 100,
      unit: ' ms',
      detail: '30 model calls',
      cause: 'a call at the end of a long conversation is folded from a snapshot.',
    }),
  ];
}

/** Notes how long each redraw of the strip takes. */
const listening = `(() => {
  globalThis.draws = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntriesByName('strip')) globalThis.draws.push(entry.duration);
  }).observe({ type: 'measure' });
})()`;

/** Scrolls the list from end to end, and returns how long each frame took. */
const scrolling = `(async () => {
  const list = document.querySelector('[data-part=list]');
  const frames = [];
  let last = performance.now();
  for (let step = 0; step < 120; step++) {
    list.scrollTop = (list.scrollHeight * step) / 120;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return frames;
})()`;
