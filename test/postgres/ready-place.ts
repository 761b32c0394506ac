/** Places for stores whose schema is there already. Most of what a new store takes is its connections: this needs one. */
import postgres from 'postgres';
import { afterAll, onTestFinished } from 'vitest';
import { parseAddress } from '../../src/store/postgres/address.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import type { Driver } from '../../src/store/postgres/driver.ts';
import { latestVersion, migrate } from '../../src/store/postgres/migrate.ts';
import { migrations } from '../../src/store/postgres/schema.ts';
import { newPlace } from './place.ts';

const patienceMs = 60_000;

let connection: Connection | undefined;
/** The places are made one after the other on one connection. */
let last: Promise<unknown> = Promise.resolve();

afterAll(() => connection?.close());

/** Places whose tests have ended. Emptying one takes a fraction of the time that making one does. */
const free: string[] = [];

/** Returns a schema with the tables of an empty store, for the length of a test that is not about how that is done. */
export function readyPlace(): Promise<string> {
  const made = last.then(async () => {
    const used = free.pop();
    return used === undefined ? make(newPlace()) : empty(used);
  });
  last = made.catch(() => undefined);
  onTestFinished(async () => void free.push(await made));
  return made;
}

/** The tables of a store, those that refer to others first. */
const tables = [
  'receipts',
  'snapshots',
  'part_holders',
  'parts',
  'event_keys',
  'events',
  'branches',
  'sessions',
  'namespaces',
];

async function empty(place: string): Promise<string> {
  const { schema } = parseAddress(place);
  await connection?.exec(tables.map((table) => `DELETE FROM "${schema}".${table}`).join('; '));
  return place;
}

async function make(place: string): Promise<string> {
  const { url, hosts, isEncrypted, schema } = parseAddress(place);
  const [host] = hosts;
  if (host === undefined) throw new Error(`There is no host in "${place}"`);
  connection ??= new Connection({
    url,
    host,
    isEncrypted,
    driver: postgres as unknown as Driver,
    connectWaitMs: patienceMs,
    answerWaitMs: patienceMs,
    settings: {},
    schemaKnown: latestVersion(migrations),
  });
  await connection.exec(`SET search_path = "${schema}"`);
  await migrate(connection, schema, migrations, patienceMs);
  return place;
}
