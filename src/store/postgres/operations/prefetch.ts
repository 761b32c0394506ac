import { refsIn } from '../../../core/parts/decode.ts';
import type { Digest } from '../../../core/point.ts';
import type { AppendRequest } from '../../../core/store/event-store.ts';
import { type EventRow, eventColumns, eventOf } from '../../sql/event-row.ts';
import type { Lookup } from '../appending/lookup.ts';
import { arrayLiteral } from '../array-literal.ts';
import { type BranchColumns, branchColumns, branchOfColumns } from '../branch-row.ts';
import type { Queries } from '../connection.ts';
import { findStored } from './hold-parts.ts';
import type { SessionFacts } from './session-facts.ts';

/** The appends of one session. */
export interface SessionAppends {
  readonly facts: SessionFacts;
  readonly requests: readonly AppendRequest[];
}

/** Fetches, for all sessions at once, what judging their appends will most likely need: one statement for each kind. */
export async function prefetch(queries: Queries, appends: readonly SessionAppends[]): Promise<void> {
  // These only read, so they may be on their way at once.
  await Promise.all([fetchBranches(queries, appends), fetchEvents(queries, appends)]);
  await fetchCauses(queries, appends);
  await fetchParts(queries, appends);
}

/** Keys to look up in sessions, as three arrays. */
class Questions<Key extends string> {
  readonly #asked: { readonly facts: SessionFacts; readonly key: Key }[] = [];

  add(facts: SessionFacts, keys: Iterable<Key>): void {
    for (const key of new Set(keys)) this.#asked.push({ facts, key });
  }

  get size(): number {
    return this.#asked.length;
  }

  arrays(): [string, string, string] {
    return [
      arrayLiteral(this.#asked.map(({ facts }) => facts.session.namespaceId)),
      arrayLiteral(this.#asked.map(({ facts }) => facts.session.id)),
      arrayLiteral(this.#asked.map(({ key }) => key)),
    ];
  }

  /** Hands every value to the session that needs it, and notes the keys that have none. */
  answer<Value>(
    answers: Iterable<readonly [session: number, key: Key, value: Value]>,
    lookupOf: (facts: SessionFacts) => Lookup<Key, Value>,
  ): void {
    const found = new Map<string, Value>();
    for (const [session, key, value] of answers) found.set(`${session} ${key}`, value);
    for (const { facts, key } of this.#asked) lookupOf(facts).set(key, found.get(`${facts.session.id} ${key}`));
  }
}

async function fetchBranches(queries: Queries, appends: readonly SessionAppends[]): Promise<void> {
  const asked = new Questions<string>();
  for (const { facts, requests } of appends) {
    const names = requests.flatMap(({ target }) =>
      target.kind === 'fork' ? [target.branch, target.parent.branch] : [target.branch],
    );
    asked.add(facts, names);
  }
  const rows = await queries.all<[...BranchColumns, number]>(
    `SELECT ${branchColumns}, b.session_id FROM unnest($1::int[], $2::bigint[], $3::text[]) asked (n, s, name)
     JOIN branches b ON b.namespace_id = asked.n AND b.session_id = asked.s AND b.name = asked.name`,
    ...asked.arrays(),
  );
  asked.answer(
    rows.map((row) => [row[13], row[1], branchOfColumns(row)] as const),
    (facts) => facts.branches,
  );
}

// The range with an order is one look into the index of ids. With a plain comparison PostgreSQL may go through the whole
// session instead, as long as it has no statistics of the table.
const eventsSql = `FROM unnest($1::int[], $2::bigint[], $3::text[]) asked (n, s, id)
JOIN LATERAL (SELECT * FROM events WHERE namespace_id = asked.n AND session_id = asked.s AND id >= asked.id ORDER BY id LIMIT 1) e ON e.id = asked.id
JOIN branches b ON b.namespace_id = e.namespace_id AND b.session_id = e.session_id AND b.id = e.branch_id`;

/** Fetches the events with the ids of the appends: nearly always there are none. */
async function fetchEvents(queries: Queries, appends: readonly SessionAppends[]): Promise<void> {
  const asked = new Questions<string>();
  for (const { facts, requests } of appends)
    asked.add(
      facts,
      requests.flatMap(({ events }) => events.map(({ id }) => id)),
    );
  const rows = await queries.all<[...EventRow, string, number]>(
    `SELECT ${eventColumns.full}, b.name, b.session_id ${eventsSql}`,
    ...asked.arrays(),
  );
  const found = rows.map((row) => [row[15], row[1], eventOf(row[14], row, 'full')] as const);
  asked.answer(found, (facts) => facts.events);
  asked.answer(found, (facts) => facts.places);
}

async function fetchCauses(queries: Queries, appends: readonly SessionAppends[]): Promise<void> {
  const asked = new Questions<string>();
  for (const { facts, requests } of appends) {
    const causes = requests.flatMap(({ events }) => events.flatMap(({ cause }) => cause ?? []));
    asked.add(
      facts,
      causes.filter((cause) => !facts.places.has(cause)),
    );
  }
  if (asked.size === 0) return;
  const rows = await queries.all<[...EventRow, string, number]>(
    `SELECT ${eventColumns.header}, b.name, b.session_id ${eventsSql}`,
    ...asked.arrays(),
  );
  asked.answer(
    rows.map((row) => [row[15], row[1], { branch: row[14], seq: row[0], turn: row[7] }] as const),
    (facts) => facts.places,
  );
}

async function fetchParts(queries: Queries, appends: readonly SessionAppends[]): Promise<void> {
  const asked = new Questions<Digest>();
  for (const { facts, requests } of appends) {
    const given = requests.flatMap(({ parts }) => parts.map(({ digest }) => digest));
    const named = requests.flatMap(({ events }) => events.flatMap(({ data }) => refsIn(data)));
    asked.add(facts, [...given, ...named]);
  }
  if (asked.size === 0) return;
  const rows = await queries.all<[number, Digest, boolean]>(
    `SELECT asked.s, asked.digest, NOT p.damaged FROM unnest($1::int[], $2::bigint[], $3::text[]) asked (n, s, digest)
     CROSS JOIN LATERAL (SELECT * FROM part_holders WHERE namespace_id = asked.n AND session_id = asked.s AND digest = decode(asked.digest, 'hex') LIMIT 1) h
     CROSS JOIN LATERAL (SELECT damaged FROM parts WHERE namespace_id = h.namespace_id AND id = h.part_id LIMIT 1) p`,
    ...asked.arrays(),
  );
  asked.answer(
    rows.map(([session, digest, isWhole]) => [session, digest, { isWhole }] as const),
    (facts) => facts.held,
  );
  for (const { facts, requests } of appends) {
    const brought = requests.flatMap(({ parts }) => parts.map(({ digest }) => digest));
    const missing = [...new Set(brought.filter((digest) => facts.held.get(digest) === undefined))];
    if (missing.length === 0) continue;
    const stored = await findStored(queries, facts.session, missing);
    for (const digest of missing) facts.stored.set(digest, stored.get(digest));
  }
}
