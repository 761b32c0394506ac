/** The reference page of event types, made from the catalogue. */

import { eventTypes } from '../src/core/event/catalogue.ts';
import type { EventSpec, FieldSpec } from '../src/core/event/event-spec.ts';

/** Where the page is kept, from the root of the repository. */
export const eventsPagePath = 'docs/reference/events.md';

const intro = `# Events

Generated from the catalogue in \`src/core/event/families\` by \`npm run docs:pages\`; edit it there.

These are the types that Reprise writes. It keeps, shows and filters any other \`noun.pastVerb\` type like these.

**counts** says how a field counts when histories are compared: *behaviour* counts, an *id* counts only by where it was used first, *noise* (clocks, latencies, provider ids) does not count. A field with a version counts only in events of that version or a later one.
`;

/** Returns the page as text. */
export function eventsPage(): string {
  const specs = Object.entries(eventTypes);
  const ordinary = specs.filter(([, spec]) => !spec.structural);
  const structural = specs.filter(([, spec]) => spec.structural);
  const sections = [
    intro,
    ...ordinary.map(section),
    '# Structural events\n\nThey change how the history before them is read. Only their verbs write them.\n',
    ...structural.map(section),
  ];
  return sections.join('\n');
}

function section([type, spec]: [string, EventSpec]): string {
  const version = spec.version === 1 ? '' : ` Version ${spec.version}.`;
  const parts = [`## ${type}\n\n${spec.about}${version}\n`, ...fieldTable(spec), exampleOf(spec)];
  return parts.join('\n');
}

function fieldTable(spec: EventSpec): string[] {
  const rows = Object.entries(spec.fields).map(fieldRow);
  if (rows.length === 0) return [];
  return [['| field | type | counts | |', '|---|---|---|---|', ...rows].join('\n').concat('\n')];
}

function fieldRow([path, { type, required, role, about, since }]: [string, FieldSpec]): string {
  const counts = since === 1 ? role : `${role}, from version ${since}`;
  return `| \`${path}\`${required ? '' : ' ?'} | ${type} | ${counts} | ${about.replaceAll('|', '\\|')} |`;
}

function exampleOf(spec: EventSpec): string {
  return `\`\`\`json\n${JSON.stringify(spec.example, undefined, 2)}\n\`\`\`\n`;
}
