/** The order of folders inside a room: a file may import from its own folder and from those before it. */

/** The files directly in a room, as a folder of their own. */
const itself = '.';

/** Rooms that are divided into folders, each with its folders in import order. A folder without a line is refused. */
const folders: Readonly<Record<string, readonly string[]>> = {
  core: [
    itself,
    'event',
    'fleet',
    'message',
    'parts',
    'view',
    'masking',
    'recording',
    'comparing',
    'coding',
    'store',
    'session',
  ],
  engine: [
    'context',
    'history',
    'editing',
    'looking',
    'changing',
    'state',
    'recording',
    'resuming',
    'believing',
    'agents',
    'forwarding',
    'fleet',
    'experimenting',
    'proving',
    'erasing',
    'copying',
    'importing',
    'bundling',
    'coding',
    itself,
  ],
  reading: [itself, 'answers', 'looks'],
  'adapters/import': ['pieces', 'bernstein', 'claude-code', 'codex', 'gemini-cli', 'otlp', 'pi', 'shipit', itself],
  server: ['http', 'guarding', 'answering', 'calls', 'spans', 'studio', itself],
  cli: ['terminal', itself, 'answering', 'render', 'demo', 'options', 'running', 'commands'],
};

/** Returns the folder of its room that a path under `src/` lies in, or undefined if the room is not divided. */
export function folderOf(path: string): { readonly room: string; readonly folder: string } | undefined {
  const [, first = '', second = '', ...deeper] = path.split('/');
  const isNested = folders[`${first}/${second}`] !== undefined;
  const room = isNested ? `${first}/${second}` : first;
  const rest = isNested ? deeper : [second, ...deeper];
  if (folders[room] === undefined) return undefined;
  return { room, folder: rest.length > 1 ? (rest[0] ?? itself) : itself };
}

/** Says why a file may not import another of the same room, or returns undefined. */
export function refuseFolder(from: string, to: string): string | undefined {
  const [importer, imported] = [folderOf(from), folderOf(to)];
  if (importer === undefined || imported?.room !== importer.room) return undefined;
  const order = folders[importer.room] ?? [];
  const [above, below] = [order.indexOf(importer.folder), order.indexOf(imported.folder)];
  if (above < 0) return `"${importer.room}/${importer.folder}" is not in the table of folders`;
  return below <= above ? undefined : `"${named(importer)}" may not import "${named(imported)}", which comes after it`;
}

function named({ room, folder }: { readonly room: string; readonly folder: string }): string {
  return folder === itself ? room : `${room}/${folder}`;
}
