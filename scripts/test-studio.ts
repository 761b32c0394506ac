/** The program of `npm run test:studio`: tests the studio in a real browser, or says why it cannot. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import packed from '@sparticuz/chromium';
import { browserArguments } from '../test/studio/browser.ts';

const config = fileURLToPath(new URL('../test/studio/playwright.config.ts', import.meta.url));

/** Returns why no browser starts here; undefined if one does. */
async function whyNoBrowser(): Promise<string | undefined> {
  try {
    const browser = await chromium.launch({ executablePath: await packed.executablePath(), args: browserArguments });
    await browser.close();
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? 'it does not say why') : String(error);
  }
}

const why = await whyNoBrowser();
if (why === undefined) {
  const words = ['exec', '--no', '--', 'playwright', 'test', '--config', config, ...process.argv.slice(2)];
  process.exitCode = spawnSync('npm', words, { stdio: 'inherit' }).status ?? 1;
} else console.log(`The studio is not tested here: no browser starts (${why}).`);
