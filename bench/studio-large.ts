/** The studio with a large message, and a long history exported as a page. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from '@playwright/test';
import type { Reprise } from '../src/index.ts';
import type { Folder } from '../test/studio/studio-process.ts';
import { atMost, median, type Row } from './measure.ts';

/** Records a call whose context is one message of 12 MB. */
export async function recordLarge(reprise: Reprise): Promise<void> {
  const session = await reprise.session('large', { create: true });
  const message = { role: 'user', content: 'A long letter. '.repeat(800_000) };
  const who = { agent: 'support', run: 'run-1', turn: 1 };
  await session.append([
    { type: 'run.started', ...who, data: {} },
    { type: 'message.added', ...who, data: { message } },
    {
      type: 'call.started',
      ...who,
      data: { call: 'asked', kind: 'model', name: 'large-1', request: { messages: [message] } },
    },
  ]);
}

/** Measures how long a message of 12 MB takes to be there, cut. */
export async function largeRow(page: Page, url: (path: string) => string): Promise<Row> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    await page.goto('about:blank');
    await page.goto(url('/s/large/main@1'));
    await page.locator('[data-seq="1"][aria-selected=true]').waitFor();
    const start = performance.now();
    await page.keyboard.press('End');
    await page.locator('[data-part=panel] .long-more').first().waitFor();
    times.push(performance.now() - start);
  }
  return atMost({
    name: 'studio: a message of 12 MB opens, cut',
    value: median(times),
    limit: 300,
    unit: ' ms',
    detail: 'the middle of five, each in a fresh page',
    cause: 'the server reads the whole message twice, at the call and before it, to compare and cut it.',
  });
}

/** Measures how long the export of the long history takes, and how long its page takes to open from a disk. */
export async function exportRows(browser: Browser, folder: Folder): Promise<Row[]> {
  const file = join(folder.path, 'long-day.html');
  const start = performance.now();
  folder.run('export', 'long-day', '--format', 'html', '--to', file);
  const exported = performance.now() - start;
  const openings: number[] = [];
  for (let round = 0; round < 5; round++) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const opening = performance.now();
    await page.goto(pathToFileURL(file).href);
    await page.locator('[data-seq][aria-selected=true]').waitFor({ timeout: 120_000 });
    openings.push(performance.now() - opening);
    await page.close();
  }
  const detail = `${(statSync(file).size / 1e6).toFixed(1)} MB`;
  return [
    atMost({
      name: 'studio: export of the long history as a page',
      value: exported / 1_000,
      limit: 10,
      unit: ' s',
      detail,
      cause: 'every payload is read, checked against the rules and packed.',
    }),
    atMost({
      name: 'studio: opening the exported page',
      value: median(openings) / 1_000,
      limit: 3,
      unit: ' s',
      detail: `${detail}, the middle of five; every event is judged by its digest before the first is shown`,
      cause: 'the page unpacks and hashes every event before it shows the first.',
    }),
  ];
}
