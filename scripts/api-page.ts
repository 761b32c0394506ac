/** The reference pages of everything the package exports, one for each door, made from the doc comments. */
import { fileURLToPath } from 'node:url';
import { doors } from './doors.ts';
import { type Entry, type Member, publicSurface } from './public-surface.ts';

/** Where the list of the doors is kept, from the root of the repository. */
export const apiIndexPath = 'docs/reference/api.md';

/** Where the page of a door is written. git ignores the folder: the pages are made when the package is packed. */
export const apiPagePath = (door: string): string => `docs/reference/api/${fileOf(door)}`;

const fileOf = (door: string): string => `${door.replace('reprise/', '')}.md`;

const root = fileURLToPath(new URL('..', import.meta.url));

const generated =
  'Generated from the doc comments in `src/` by `npm run docs:pages`; edit it there. Every example runs as a test.';

const indexIntro = `# API

The package has one page for each door that a program can import from, with every export and an example of every verb. The doc comments in \`src/\` say the same, and an editor shows them. In the repository, \`npm run docs:pages\` writes the pages.

\`\`\`sh
npm install reprise
\`\`\`
`;

const intro = `# reprise

${generated}

In the examples \`reprise\` is an open store, \`session\` its session \`refund\` (the story of \`npm start\`: seven events on
\`main\`), and \`branch\` the branch \`careful\`, forked at \`main@2\`. Everything named is imported from \`reprise\`.
`;

/** The groups of the page. Every other value goes under "More" and every type under "Types", so nothing is left out. */
const groups: Readonly<Record<string, readonly string[]>> = {
  Opening: ['openReprise', 'openSqliteStore', 'openMemoryStore', 'createNodePlatform'],
  Reprise: ['Reprise'],
  Session: ['Session'],
  Branch: ['Branch'],
  Look: ['Look'],
  SessionRecorder: ['SessionRecorder'],
  StateReader: ['StateReader'],
  State: ['State'],
  Transaction: ['Transaction'],
  AgentLook: ['AgentLook'],
  AgentBranch: ['AgentBranch'],
  Projections: [
    'conversation',
    'messagesOf',
    'runs',
    'summary',
    'metadata',
    'fingerprintProjection',
    'defineProjection',
    'project',
  ],
  'Refs, filters, keys': ['parseRef', 'refText', 'matches', 'parseFilter', 'ownedKey', 'plainKey'],
};

/** The list of the doors as text. */
export function apiIndex(): string {
  const rows = Object.entries(doors).map(([door, { about = mainAbout }]) => {
    const [told = ''] = about.split('\n');
    return `| [\`${door}\`](api/${fileOf(door)}) | ${told.replaceAll('](../../', '](../')} |`;
  });
  return `${indexIntro}\n${['| import from | for |', '|---|---|', ...rows].join('\n')}\n`;
}

const mainAbout = 'Opens a store, and has the handles, the projections and their types.';

/** Returns the page of every door as text, by its path. */
export function apiPages(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(doors).map(([door, { file, about }]) => [
      apiPagePath(door),
      about === undefined ? mainPage() : doorPage(door, file, about),
    ]),
  );
}

function doorPage(door: string, file: string, about: string): string {
  return [`# ${door}`, generated, about, ...doorSections(file)].join('\n\n').concat('\n');
}

function mainPage(): string {
  const entries = publicSurface(root, 'src/index.ts');
  const grouped = new Set(Object.values(groups).flat());
  const rest = entries.filter((entry) => entry.kind !== 'type' && !grouped.has(entry.name));
  const sections = Object.entries(groups).map(([title, names]) => {
    const held = names.map((name) => entries.find((entry) => entry.name === name) as Entry);
    return [`## ${title}`, ...held.map(valueSection)].join('\n\n');
  });
  return [
    intro.trimEnd(),
    ...sections,
    '## More',
    ...rest.map(valueSection),
    '## Types',
    ...byName(entries.filter((entry) => entry.kind === 'type')).map(typeSection),
  ]
    .join('\n\n')
    .concat('\n');
}

/** Everything that a door other than the main one exports, in the order of the door. */
function doorSections(file: string): string[] {
  return publicSurface(root, file).map((entry) => (entry.kind === 'type' ? typeSection(entry) : valueSection(entry)));
}

const byName = (entries: readonly Entry[]): Entry[] => entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));

function valueSection(entry: Entry): string {
  if (entry.kind === 'class' && entry.example === undefined) return classSection(entry);
  const call = entry.parameters === undefined ? entry.name : `${entry.name}(${entry.parameters})`;
  return [`### ${call}`, entry.about, ...baseOf(entry), ...exampleOf(entry)].join('\n\n');
}

function baseOf({ base }: Entry): string[] {
  return base === undefined ? [] : [`It has everything that \`${base}\` has.`];
}

function classSection(entry: Entry): string {
  const fields = entry.members.filter((member) => member.parameters === undefined);
  const verbs = entry.members.filter((member) => member.parameters !== undefined);
  const name = `${entry.name.charAt(0).toLowerCase()}${entry.name.slice(1)}`;
  return [
    // The group of a class has its name.
    ...(Object.hasOwn(groups, entry.name) ? [] : [`### ${entry.name}`]),
    entry.about,
    ...baseOf(entry),
    ...(fields.length === 0 ? [] : [fieldTable(fields)]),
    ...verbs.map((verb) =>
      [`### ${name}.${verb.name}(${verb.parameters})`, verb.about, ...exampleOf(verb)].join('\n\n'),
    ),
  ].join('\n\n');
}

function typeSection(entry: Entry): string {
  const shape = entry.members.length > 0 ? [fieldTable(entry.members)] : [];
  const written = entry.type === undefined || entry.type.length > 110 ? [] : [`\`${entry.type}\``];
  return [`### ${entry.name}`, entry.about, ...written, ...shape].join('\n\n');
}

function exampleOf({ example }: Pick<Member, 'example'>): string[] {
  return example === undefined ? [] : [`\`\`\`ts\n${example.code}\n\`\`\``];
}

function fieldTable(members: readonly Member[]): string {
  const rows = members.map(({ name, parameters, type, isOptional, about }) => {
    const held = parameters === undefined ? `\`${name}\`${isOptional ? ' ?' : ''}` : `\`${name}(${parameters})\``;
    return `| ${held} | ${type === undefined ? '' : `\`${cell(type)}\``} | ${cell(about)} |`;
  });
  return ['| | | |', '|---|---|---|', ...rows].join('\n');
}

const cell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
