/** Writes the reference page of event types. A test fails when the page and the catalogue differ. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventsPage, eventsPagePath } from './events-page.ts';

const path = fileURLToPath(new URL(`../${eventsPagePath}`, import.meta.url));
mkdirSync(fileURLToPath(new URL('../docs/reference', import.meta.url)), { recursive: true });
writeFileSync(path, eventsPage());
console.log(`Wrote ${eventsPagePath}`);
