/** The studio while something happens: an append, a flood of events, and long scrubbing. */
import { setTimeout as wait } from 'node:timers/promises';
import type { CDPSession, Page } from '@playwright/test';
import type { Session } from '../src/index.ts';
import { atLeast, atMost, percentile, type Row } from './measure.ts';

const note = (text: string) => ({ type: 'note.added', data: { text } });

const pointOf = (page: Page, seq: number) => page.locator(`[data-part=point]:has-text("of ${seq}")`);

/** Measures how long an event of a different process takes to be on screen. */
export async function appendRow(page: Page, session: Session): Promise<Row> {
  await page.keyboard.press('End');
  const times: number[] = [];
  for (let step = 0; step < 20; step++) {
    const start = performance.now();
    const [event] = await session.append(note('late'));
    await pointOf(page, event?.seq ?? 0).waitFor();
    times.push(performance.now() - start);
    await wait(150);
  }
  return atMost({
    name: 'studio: an appended event on screen, p95',
    value: percentile(times, 0.95),
    limit: 200,
    unit: ' ms',
    detail: '20 events, appended by a different process',
    cause: 'the server looks at the file of a different process every so often.',
  });
}

const floodMs = 10_000;
const floodEvery = 100;

/** Measures the frames of a page that follows a thousand events a second. */
export async function floodRow(page: Page, session: Session, isQuick: boolean): Promise<Row> {
  const lastMs = isQuick ? 500 : floodMs;
  const counted = page.evaluate<number>(framesFor(lastMs));
  const start = performance.now();
  let head = 0;
  for (let sent = 0; performance.now() - start < lastMs; sent += floodEvery) {
    await wait(Math.max(0, sent - (performance.now() - start)));
    const events = await session.append(Array.from({ length: 100 }, (_, each) => note(`${sent} ${each}`)));
    head = events.at(-1)?.seq ?? head;
  }
  const frames = await counted;
  await pointOf(page, head).waitFor();
  return atLeast({
    name: 'studio: frames a second while 1,000 events a second arrive',
    value: frames / (lastMs / 1_000),
    limit: 30,
    unit: '/s',
    detail: `for ${lastMs / 1_000} s, at the end of the long history`,
    cause: 'each picture of a history that grows looks at all of it.',
  });
}

/** Counts the frames of some time. */
const framesFor = (ms: number): string => `new Promise((resolve) => {
  const start = performance.now();
  let frames = 0;
  const next = () => {
    frames++;
    if (performance.now() - start < ${ms}) requestAnimationFrame(next);
    else resolve(frames);
  };
  requestAnimationFrame(next);
})`;

/** Measures the memory of a page in which somebody scrubs: how much it is, and how much it grows from the middle to the end. */
export async function scrubRows(page: Page, ms: number): Promise<Row[]> {
  const tools = await page.context().newCDPSession(page);
  await page.keyboard.press('Home');
  await scrub(page, ms / 2);
  const middle = await memoryOf(tools);
  await scrub(page, ms / 2);
  const end = await memoryOf(tools);
  const detail = `${ms / 1_000} s of scrubbing; ten minutes with --long`;
  return [
    atMost({
      name: 'studio: memory of the page after scrubbing',
      value: end,
      limit: 200,
      unit: ' MB',
      detail,
      cause: 'answers of points that were looked at are kept.',
    }),
    atMost({
      name: 'studio: growth of that memory in the second half',
      value: Math.max(0, end - middle),
      limit: 20,
      unit: ' MB',
      detail: `${middle.toFixed(0)} MB in the middle`,
      cause: 'something is kept for every point.',
    }),
  ];
}

/** Moves through the history by keys and by the pointer on the ruler, and looks at every panel. */
async function scrub(page: Page, ms: number): Promise<void> {
  const until = performance.now() + ms;
  const strip = await page.locator('[data-part=strip]').boundingBox();
  for (let step = 0; performance.now() < until; step++) {
    await page.keyboard.press(step % 3 === 0 ? 'Shift+ArrowRight' : 'ArrowRight');
    if (step % 20 === 0) await page.keyboard.press(String(1 + ((step / 20) % 5)));
    if (strip === null || step % 7 !== 0) continue;
    const x = strip.x + 140 + ((step * 37) % (strip.width - 160));
    await page.mouse.move(x, strip.y + 32);
    await page.mouse.down();
    await page.mouse.move(x + 30, strip.y + 32, { steps: 4 });
    await page.mouse.up();
  }
  await page.keyboard.press('1');
}

/** Returns the megabytes of a page after its garbage is gone: objects, elements, and the buffers of columns. */
async function memoryOf(tools: CDPSession): Promise<number> {
  await tools.send('HeapProfiler.collectGarbage');
  const usage: Record<string, number> = { ...(await tools.send('Runtime.getHeapUsage')) };
  const parts = ['usedSize', 'embedderHeapUsedSize', 'backingStorageSize'];
  return parts.reduce((sum, part) => sum + (usage[part] ?? 0), 0) / 1e6;
}
