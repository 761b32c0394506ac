import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random, seedOfRun } from '../crash/random.ts';
import { fewOrAll } from '../how-many.ts';
import { headsOf, isNamed, type Looks, looksOf } from './looks.ts';
import { openPaymentStore, type PaymentStore } from './payment-store.ts';

// More of them when asked for: `REPRISE_FLIPS=2000 npx vitest run test/hostile/any-damage.test.ts`.
const rounds = Number(process.env['REPRISE_FLIPS'] ?? fewOrAll(6, 24));

let store: PaymentStore;
let expected: Looks;
let heads: Readonly<Record<string, string>>;
let beside: string;
beforeAll(async () => {
  store = await openPaymentStore();
  // Each look is at a copy, since a look may keep a snapshot.
  expected = await looksOf(store.copy());
  heads = await headsOf(store.copy());
  beside = besideTheChain(store.template);
});
afterAll(() => store[Symbol.dispose]());

/**
 * Returns everything that no digest covers and no other row repeats, as text. A verification lists `names` in
 * `notCovered`. The rest is not history: sizes, and the order of a listing.
 */
function besideTheChain(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const sql = [
      'SELECT id, name FROM namespaces ORDER BY id',
      'SELECT id, namespace_id, name, root, created_at, erasures FROM sessions ORDER BY id',
      'SELECT id, session_id, name FROM branches ORDER BY id',
    ];
    return JSON.stringify(sql.map((query) => database.prepare(query).all()));
  } catch {
    return 'unreadable';
  } finally {
    database.close();
  }
}

/** Holds what a changed store gives against what it gave. */
async function judge(path: string, how: string): Promise<'same' | 'refused' | 'named' | 'beside'> {
  const found = await looksOf(path);
  const changed = Object.keys(expected).filter((name) => found[name] !== expected[name]);
  if (changed.length === 0) return 'same';
  const silent = changed.filter((name) => found[name] !== undefined && !found[name].startsWith('error '));
  if (silent.length === 0) return 'refused';
  if (await isNamed(path, heads)) return 'named';
  const isBeside = besideTheChain(path) !== beside;
  expect(isBeside, `${how}: nobody names that these are different: ${silent.join(', ')}`).toBe(true);
  return 'beside';
}

test('a bit flipped anywhere: every look gives what it gave, or a clear error, or a verification names it', async () => {
  const seed = seedOfRun();
  console.log(`hostile seed ${seed}`);
  const random = new Random(seed);
  const template = readFileSync(store.template);
  const outcomes: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    const bytes = Buffer.from(template);
    const at = random.below(bytes.length);
    const bit = random.below(8);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
    const path = store.copy();
    writeFileSync(path, bytes);
    const outcome = await judge(path, `seed ${seed}: bit ${bit} flipped at ${at}`);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  console.log(outcomes);
});

test('any value of any row edited: every look gives what it gave, or a clear error, or a verification names it', async () => {
  const seed = seedOfRun();
  const random = new Random(seed);
  const outcomes: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    const path = store.copy();
    const how = edit(path, random);
    const outcome = await judge(path, `seed ${seed}, round ${round}: ${how}`);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  console.log(outcomes);
  expect((outcomes['named'] ?? 0) + (outcomes['refused'] ?? 0)).toBeGreaterThan(0);
});

/** Changes one value of one row, or deletes the row, as no program of ours does; returns the statement. */
function edit(path: string, random: Random): string {
  const database = new DatabaseSync(path);
  try {
    for (;;) {
      const statement = edition(database, random);
      try {
        if (database.prepare(statement).run().changes === 1) return statement;
      } catch {
        // A constraint of the schema forbids it: the next one.
      }
    }
  } finally {
    database.close();
  }
}

function edition(database: DatabaseSync, random: Random): string {
  const tables = [
    'events',
    'events',
    'event_keys',
    'event_keys',
    'clocks',
    'snapshots',
    'parts',
    'part_holders',
    'branches',
    'sessions',
  ];
  const table = random.pick(tables);
  const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as { name: string }[];
  const keys = {
    event_keys: ['branch_id', 'key', 'seq'],
    clocks: ['branch_id', 'seq'],
    part_holders: ['session_id', 'digest'],
  };
  const rowid = keys[table as keyof typeof keys] ?? ['rowid'];
  const count = (database.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
  const row = `(SELECT ${rowid.join(', ')} FROM ${table} LIMIT 1 OFFSET ${random.below(count)})`;
  const where = `WHERE (${rowid.join(', ')}) = ${row}`;
  if (random.below(6) === 0) return `DELETE FROM ${table} ${where}`;
  const column = random.pick(columns).name;
  const other = `(SELECT ${column} FROM ${table} LIMIT 1 OFFSET ${random.below(count)})`;
  const value = random.pick([
    other,
    other,
    'NULL',
    `CASE typeof(${column}) WHEN 'integer' THEN ${column} + 1 ELSE replace(${column}, substr(${column}, 3, 1), 'x') END`,
    `CASE typeof(${column}) WHEN 'integer' THEN 0 ELSE substr(${column}, 1, length(${column}) / 2) END`,
  ]);
  return `UPDATE ${table} SET ${column} = ${value} ${where}`;
}
