/** The abilities that a user of the database may have. */
export type Ability = 'read' | 'append' | 'erase';

/** One right on one table, or on one column of it. */
export interface Right {
  readonly ability: Ability;
  readonly privilege: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
  readonly table: string;
  readonly column?: string;
}

const sessionTables = [
  'sessions',
  'branches',
  'events',
  'event_keys',
  'parts',
  'part_holders',
  'snapshots',
  'receipts',
] as const;

/** Every table of a store. */
const tables: readonly string[] = ['schema_versions', 'namespaces', ...sessionTables];

type Columns = Readonly<Partial<Record<(typeof sessionTables)[number], readonly string[]>>>;

/** The columns that an append updates: the end of a branch, the order of sessions, a part that was stored as a delta. */
const appended: Columns = {
  sessions: ['branches', 'touched'],
  branches: [
    'head',
    'digest',
    'turn',
    'epoch',
    'marker',
    'event_bytes',
    'part_bytes',
    'highest_turn',
    'latest_time',
    'updated_at',
    'touched',
  ],
  parts: ['kind', 'refs', 'text'],
  snapshots: ['digest', 'value'],
  receipts: ['created_at', 'body'],
};

/** The columns that an erasure or a deletion updates on top of that. */
const erased: Columns = {
  sessions: ['erasures', 'name'],
  branches: ['erased_bytes'],
  events: ['data', 'salt', 'data_digest', 'highest_turn', 'latest_time'],
  parts: ['salt', 'damaged'],
  part_holders: ['part_id', 'bytes'],
};

/** The rights that each ability needs; appending needs those of reading, too; erasing and deleting need those of both. */
export const rights: readonly Right[] = [
  ...tables.map((table) => ({ ability: 'read', privilege: 'SELECT', table }) as const),
  ...['namespaces', ...sessionTables].map((table) => ({ ability: 'append', privilege: 'INSERT', table }) as const),
  ...updates('append', appended),
  ...updates('erase', erased),
  ...sessionTables.map((table) => ({ ability: 'erase', privilege: 'DELETE', table }) as const),
];

function updates(ability: Ability, columns: Columns): Right[] {
  return Object.entries(columns).flatMap(([table, names]) =>
    names.map((column) => ({ ability, privilege: 'UPDATE', table, column }) as const),
  );
}

/** Returns the statements that grant a user some rights, as few as possible. */
export function grantsOf(missing: readonly Right[], schema: string, user: string): string[] {
  const whole = new Map<string, string[]>();
  const partly = new Map<string, string[]>();
  for (const { privilege, table, column } of missing) {
    const name = `${schema}.${table}`;
    if (column === undefined) whole.set(privilege, [...(whole.get(privilege) ?? []), name]);
    else partly.set(`${privilege} ${name}`, [...(partly.get(`${privilege} ${name}`) ?? []), column]);
  }
  return [
    ...[...whole].map(([privilege, names]) => `GRANT ${privilege} ON ${names.join(', ')} TO ${user};`),
    ...[...partly].map(([key, columns]) => {
      const [privilege, name] = key.split(' ');
      return `GRANT ${privilege} (${columns.join(', ')}) ON ${name} TO ${user};`;
    }),
  ];
}
