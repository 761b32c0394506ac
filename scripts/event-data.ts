/** The types of the data of every event type, made from the catalogue. */

import { eventTypes } from '../src/core/event/catalogue.ts';
import type { EventSpec, FieldType } from '../src/core/event/event-spec.ts';

/** Where the types are kept, from the root of the repository. */
export const eventDataPath = 'src/core/event/event-data.ts';

const intro = `import type { JsonArray, JsonObject, JsonValue } from '../json.ts';

// Made from the catalogue by \`npm run docs:pages\`; edit src/core/event/families.

/** The data of the events that Reprise writes, by their type. An event may have more fields than its type declares. */
export interface EventData {
`;

const typeTexts: Readonly<Record<FieldType, string>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  object: 'JsonObject',
  array: 'JsonArray',
  any: 'JsonValue',
};

/** Returns the file as text. */
export function eventDataFile(): string {
  return `${intro}${Object.entries(eventTypes).map(dataOf).join('')}}\n`;
}

function dataOf([type, { fields }]: readonly [string, EventSpec]): string {
  const own = Object.entries(fields).filter(([path]) => !path.includes('.'));
  const inner = Map.groupBy(
    Object.entries(fields).filter(([path]) => path.includes('.')),
    ([path]) => path.slice(0, path.indexOf('.')),
  );
  const members = [
    ...own.map(([name, spec]) => memberOf(name, spec.required, typeTexts[spec.type])),
    ...[...inner].map(([name, list]) => {
      const parts = list.map(([path, spec]) =>
        memberOf(path.slice(name.length + 1), spec.required, typeTexts[spec.type]),
      );
      return memberOf(name, false, `JsonObject & {\n${parts.map((part) => `      ${part};\n`).join('')}    }`);
    }),
  ];
  return `  readonly '${type}': JsonObject & {\n${members.map((member) => `    ${member};\n`).join('')}  };\n`;
}

const memberOf = (name: string, isRequired: boolean, type: string): string =>
  `readonly ${name}${isRequired ? '' : '?'}: ${type}`;
