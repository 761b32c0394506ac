/** The studio in a real browser, on a long history: how fast it opens, draws, scrolls, selects and follows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium, type Page } from '@playwright/test';
import packed from '@sparticuz/chromium';
import { type EventDraft, openReprise, type Session } from '../src/index.ts';
import { busyStory } from '../test/studio/busy-story.ts';
import { Folder, startStudio } from '../test/studio/studio-process.ts';
import { atMost, forTheRecord, type Row } from './measure.ts';
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
  const studio = await startStudio(folder);
  const browser = await chromium.launch({
    executablePath: await packed.executablePath(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(studio.url('/s/long-day/main@100'));
    await page.locator('[data-seq="100"]').waitFor();
    return [
      sizeRow(),
      ...(await openRows(page, studio.url)),
      ...(await lookRows(page)),
      await appendRow(page, session),
    ];
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
  await page.goto('about:blank');
  const start = performance.now();
  await page.goto(url('/s/long-day/main@100'));
  await page.locator('[data-seq="100"][aria-selected=true]').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.locator('[data-seq="101"][aria-selected=true]').waitFor();
  const opened = performance.now() - start;
  await page.locator('.run:not([data-loading])').waitFor();
  return [
    atMost({
      name: 'studio: opened to first scrub',
      value: opened,
      limit: 1_000,
      unit: ' ms',
      detail: 'the second time, with snapshots',
      cause: 'browser, server and measurement share the cores.',
    }),
  ];
}

async function lookRows(page: Page): Promise<Row[]> {
  await page.evaluate('performance.clearMeasures()');
  const panel: number[] = [];
  for (let step = 0; step < 30; step++) {
    const start = performance.now();
    await page.keyboard.press('Shift+ArrowRight');
    await page.locator('.fading:not([data-stale])').first().waitFor();
    panel.push(performance.now() - start);
  }
  const draws = await page.evaluate<number[]>("performance.getEntriesByName('strip').map((entry) => entry.duration)");
  const frames = await page.evaluate<number[]>(scrolling);
  return [
    atMost({
      name: 'studio: a redraw of the strip, p95',
      value: p95(draws),
      limit: 8,
      unit: ' ms',
      detail: `${draws.length} redraws`,
      cause: 'every bar is looked at, also those off screen.',
    }),
    atMost({
      name: 'studio: a frame while scrolling the list, p95',
      value: p95(frames),
      limit: 20,
      unit: ' ms',
      detail: 'from end to end in 120 frames',
      cause: 'the browser draws in software here.',
    }),
    atMost({
      name: 'studio: a panel after selecting, p95',
      value: p95(panel),
      limit: 100,
      unit: ' ms',
      detail: '30 model calls',
      cause: 'a call at the end of a long conversation is folded from a snapshot.',
    }),
  ];
}

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

async function appendRow(page: Page, session: Session): Promise<Row> {
  await page.keyboard.press('End');
  const times: number[] = [];
  for (let step = 0; step < 5; step++) {
    const start = performance.now();
    const [event] = await session.append({ type: 'note.added', data: { text: 'late' } });
    await page.locator(`[data-part=point]:has-text("of ${event?.seq ?? 0}")`).waitFor();
    times.push(performance.now() - start);
  }
  return atMost({
    name: 'studio: an appended event on screen, p95',
    value: p95(times),
    limit: 200,
    unit: ' ms',
    detail: 'appended by a different process',
    cause: 'the server looks at the file of a different process every so often.',
  });
}

const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;
