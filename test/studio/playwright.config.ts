import { fileURLToPath } from 'node:url';
import { defineConfig } from '@playwright/test';
import chromium from '@sparticuz/chromium';
import { browserArguments } from './browser.ts';

/** Tests of the studio in a real browser, against a real `reprise studio` process. */
export default defineConfig({
  testDir: fileURLToPath(new URL('.', import.meta.url)),
  testMatch: '*.spec.ts',
  outputDir: fileURLToPath(new URL('../../node_modules/.cache/playwright', import.meta.url)),
  timeout: 120_000,
  expect: { timeout: 20_000 },
  workers: 1,
  // The linter sees `.only` in tests of vitest alone.
  forbidOnly: true,
  reporter: 'line',
  use: {
    viewport: { width: 1280, height: 800 },
    launchOptions: {
      executablePath: await chromium.executablePath(),
      args: browserArguments,
    },
  },
});
