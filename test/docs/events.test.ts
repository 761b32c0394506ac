import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventsPage, eventsPagePath } from '../../scripts/events-page.ts';

test('the page of event types is what the catalogue says; `npm run docs:events` writes it', () => {
  const kept = readFileSync(new URL(`../../${eventsPagePath}`, import.meta.url), 'utf8');
  expect(kept).toBe(eventsPage());
});
