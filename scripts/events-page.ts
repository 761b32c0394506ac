/** The reference page of event types, made from the catalogue. */

import { eventTypes } from '../src/core/event/catalogue.ts';
import type { EventSpec, FieldSpec } from '../src/core/event/event-spec.ts';

/** Where the page is kept, from the root of the repository. */
export const eventsPagePath = 'docs/reference/events.md';

const intro = `# Events

Generated from the catalogue in \`src/core/event/catalogue.ts\` by \`npm run docs:pages\`; edit it there.

These are the types that Reprise writes and knows how to read. Any other \`noun.pastVerb\` type is kept, shown and filtered like these.

**counts** says what a field means when histories are compared: *behaviour* counts, an *id* counts only by where it was used first, *noise* (clocks, latencies, provider ids) does not count.
`;

/** The page as text. */
export function eventsPage(): string {
  const specs = Object.entries(eventTypes);
  const ordinary = specs.filter(([, spec]) => !spec.structural);
  const structural = specs.filter(([, spec]) => spec.structural);
  const sections = [
    intro,
    ...ordinary.map(section),
    '# Structural events\n\nThey change how the history before them is read, and are written by their verbs only.\n',
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

function fieldRow([path, { type, required, role, about }]: [string, FieldSpec]): string {
  return `| \`${path}\`${required ? '' : ' ?'} | ${type} | ${role} | ${about.replaceAll('|', '\\|')} |`;
}

function exampleOf(spec: EventSpec): string {
  return `\`\`\`json\n${JSON.stringify(spec.example, undefined, 2)}\n\`\`\`\n`;
}
