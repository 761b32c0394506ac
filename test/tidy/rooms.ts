/** The direction of the house: which room may import which. The table is the one in CONTRIBUTING.md. */

/** Rooms that choose may import every other, and the porch. */
const every = 'every room';

/** The imports that a room is allowed. */
interface Room {
  readonly rooms: readonly string[] | typeof every;
  /** Which of Node's own modules may be imported: all, none, or those listed. */
  readonly node: boolean | readonly string[];
  /** Packages it may import; everything else from outside is refused. */
  readonly packages: readonly string[];
}

/** Packages a room may use are added here together with a note in `docs/decisions/`. */
const rooms: Readonly<Record<string, Room>> = {
  core: { rooms: [], node: false, packages: [] },
  projections: { rooms: ['core'], node: false, packages: [] },
  engine: { rooms: ['core', 'projections'], node: false, packages: [] },
  wording: { rooms: ['core'], node: false, packages: [] },
  reading: { rooms: ['core', 'projections', 'engine', 'wording'], node: false, packages: [] },
  protocols: { rooms: ['core'], node: false, packages: [] },
  'store/memory': { rooms: ['core'], node: true, packages: [] },
  'store/sql': { rooms: ['core'], node: false, packages: [] },
  'store/sqlite': { rooms: ['core', 'store/sql'], node: true, packages: [] },
  'store/postgres': { rooms: ['core', 'store/sql'], node: true, packages: ['postgres'] },
  node: { rooms: ['core', 'engine', 'protocols'], node: true, packages: ['fflate'] },
  'adapters/ai-sdk': { rooms: ['core'], node: true, packages: ['ai', '@ai-sdk/provider'] },
  'adapters/openai-agents': { rooms: ['core'], node: true, packages: ['@openai/agents'] },
  'adapters/langgraph': {
    rooms: ['core'],
    node: true,
    packages: ['@langchain/core', '@langchain/langgraph-checkpoint'],
  },
  'adapters/mcp': { rooms: ['core'], node: true, packages: ['@modelcontextprotocol/client'] },
  'adapters/clients': { rooms: ['core', 'protocols', 'adapters/functions'], node: true, packages: [] },
  'adapters/functions': { rooms: ['core'], node: true, packages: [] },
  'adapters/openai': { rooms: ['core', 'protocols', 'adapters/clients'], node: true, packages: ['openai'] },
  'adapters/anthropic': {
    rooms: ['core', 'protocols', 'adapters/clients'],
    node: true,
    packages: ['@anthropic-ai/sdk'],
  },
  'adapters/gemini': { rooms: ['core', 'protocols', 'adapters/clients'], node: true, packages: ['@google/genai'] },
  'adapters/import': { rooms: ['core', 'protocols', 'wire'], node: true, packages: ['yaml', '@bufbuild/protobuf'] },
  wire: { rooms: ['core'], node: false, packages: ['@bufbuild/protobuf', '@connectrpc/connect'] },
  client: {
    rooms: ['core', 'wire'],
    node: true,
    packages: ['@bufbuild/protobuf', '@connectrpc/connect', '@connectrpc/connect-node'],
  },
  server: {
    rooms: ['core', 'projections', 'engine', 'wording', 'reading', 'wire'],
    node: true,
    packages: ['@bufbuild/protobuf', '@connectrpc/connect', '@connectrpc/connect-node'],
  },
  testing: {
    rooms: ['core', 'engine', 'protocols'],
    node: ['node:assert/strict', 'node:http'],
    packages: [],
  },
  cli: { rooms: every, node: true, packages: ['commander'] },
};

/** The room a path under `src/` lies in; files directly in `src/` are the porch and have none. */
export function roomOf(path: string): string | undefined {
  const [, first, second, third] = path.split('/');
  if (second === undefined) return undefined;
  return (first === 'store' || first === 'adapters') && third !== undefined ? `${first}/${second}` : first;
}

/** Rooms without Node, DOM, clock and randomness. */
export const pureRooms: readonly string[] = [
  'core',
  'projections',
  'engine',
  'wording',
  'reading',
  'store/sql',
  'protocols',
];

/** Why `from` may not import `to` (a room), or undefined. An unknown room is refused: it needs a line in the table. */
export function refuseRoom(from: string, to: string): string | undefined {
  const room = rooms[from];
  if (room === undefined) return `"${from}" is not in the table of rooms`;
  if (room.rooms === every || from === to || room.rooms.includes(to)) return undefined;
  return `"${from}" may not import "${to}"`;
}

/** Why `from` may not import `target`, a file of the porch, or undefined. */
export function refusePorch(from: string, target: string): string | undefined {
  return rooms[from]?.rooms === every ? undefined : `"${from}" may not import the porch "${target}"`;
}

/** Why `from` may not import a package or a Node module, or undefined. */
export function refusePackage(from: string, specifier: string): string | undefined {
  const room = rooms[from];
  if (room === undefined) return `"${from}" is not in the table of rooms`;
  if (specifier.startsWith('node:')) {
    const allowed = typeof room.node === 'boolean' ? room.node : room.node.includes(specifier);
    return allowed ? undefined : `"${from}" may not import "${specifier}"`;
  }
  return room.packages.includes(packageOf(specifier)) ? undefined : `"${from}" may not import "${specifier}"`;
}

/** `@scope/name/sub` → `@scope/name`, `name/sub` → `name`. */
export function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}
