import { canonicalJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import { given, isObject, type JsonObject, type JsonValue, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { type Point, previous } from '../../core/point.ts';
import type { StateOperation, StateValue } from '../../engine/state/entry.ts';
import type { State } from '../../engine/state/state.ts';
import type { Transaction } from '../../engine/state/transaction.ts';
import type { Committed, TransactionOptions } from '../../engine/state/transaction-work.ts';

/** The state that a commit is for. */
export interface CommitPlace {
  readonly state: State;
  /** The branch of that state. */
  readonly branch: string;
  /** The agent that the token is bound to. */
  readonly bound: string | undefined;
  /** Returns where an event of the session is stored, by its id. */
  readonly locate: (id: string) => Promise<Point | undefined>;
}

/** A commit in one call. */
export interface AskedCommit {
  readonly operations: readonly JsonValue[];
  /** The keys that were read, with their versions, and the prefixes, with everything that was under them. */
  readonly read: readonly JsonValue[];
  /** The id of the transaction; a new one if it is empty. */
  readonly requestId: string;
  readonly options: TransactionOptions;
}

/** A transaction that was committed before. */
interface CommittedBefore {
  readonly committed: Committed;
  readonly operations: readonly StateOperation[];
}

/** Commits operations in one call, once for each id. */
export async function commitOnce(place: CommitPlace, asked: AskedCommit): Promise<Committed> {
  const { operations, read, requestId, options } = asked;
  const before = requestId === '' ? undefined : await committedBefore(place, requestId);
  if (before !== undefined && isSame(before.operations, operations, place.state.agent)) return before.committed;
  const begin = { ...options, ...(requestId === '' ? {} : { txn: requestId }) };
  return await commitAt(place.state.begin(begin), operations, read);
}

/**
 * Returns a transaction that was committed before on the branch of a state, by the id of its event: the process that
 * held it may have ended before its answer arrived.
 */
export async function committedBefore(
  { state, branch, bound, locate }: CommitPlace,
  transaction: string,
): Promise<CommittedBefore | undefined> {
  const point = await locate(transaction);
  if (point?.branch !== branch) return undefined;
  const range = { after: previous(point.seq), through: point.seq, agent: bound ?? null };
  for await (const { txn, seq, time, operations } of state.replay(range)) {
    if (txn !== transaction || operations.length === 0) continue;
    const versions = operations.map(({ agent: of, key, version }) => ({ agent: of, key, version }));
    return { committed: { txn, seq, time, versions }, operations };
  }
  return undefined;
}

/** Returns true if operations that were committed are those of a request. */
function isSame(committed: readonly StateOperation[], asked: readonly JsonValue[], agent: string): boolean {
  const before = committed.map(
    ({ agent: of, key, op, value }): JsonObject => ({ agent: of, key, op, ...given({ value }) }),
  );
  return canonicalJson(before) === canonicalJson(asked.map((item) => (isObject(item) ? { ...item, agent } : item)));
}

/** Commits operations if what was read is still so. */
async function commitAt(transaction: Transaction, operations: readonly JsonValue[], read: readonly JsonValue[]) {
  try {
    for (const [index, item] of read.entries()) await checkRead(transaction, item, index);
    for (const [index, item] of operations.entries()) apply(transaction, item, index);
    return await transaction.commit();
  } catch (error) {
    if (transaction.committed === undefined && !transaction.isInConflict) transaction.abort();
    throw error;
  }
}

async function checkRead(transaction: Transaction, item: JsonValue, index: number): Promise<void> {
  checkFields(item, `read[${index}]`, readFields);
  const [key, version, seq] = [stringAt(item, 'key'), numberAt(item, 'version'), numberAt(item, 'seq')];
  const [prefix, keys] = [stringAt(item, 'prefix'), objectAt(item, 'keys')];
  if (prefix !== undefined && keys !== undefined)
    return await checkPrefix(transaction, prefix, keys, objectAt(item, 'seqs') ?? {});
  if (key === undefined || version === undefined)
    throw malformed(
      `read[${index}]`,
      '{ key, version, seq? } or { prefix, keys: { KEY: VERSION }, seqs?: { KEY: SEQ } }',
    );
  checkVersion(await transaction.get(key), version, seq);
}

/** Refuses a commit if a key under a prefix was added, changed or deleted since it was read. */
async function checkPrefix(
  transaction: Transaction,
  prefix: string,
  keys: JsonObject,
  seqs: JsonObject,
): Promise<void> {
  const left = new Map(Object.entries(keys));
  for await (const held of transaction.scan(prefix)) {
    checkVersion(held, left.get(held.key) ?? 0, Object.hasOwn(seqs, held.key) ? seqs[held.key] : undefined);
    left.delete(held.key);
  }
  for (const [key, version] of left) throw conflict(key, `version 0, not ${Number(version)}`, Number(version), 0);
}

/** Refuses a commit if a key has a different version by now. One with the same number, after a rewind, has its own seq. */
function checkVersion({ key, version, seq }: StateValue, expected: JsonValue, at: JsonValue | undefined): void {
  if (version !== expected)
    throw conflict(key, `version ${version}, not ${Number(expected)}`, Number(expected), version);
  if (at !== undefined && seq !== at)
    throw conflict(key, `version ${version} of seq ${seq}, not of seq ${Number(at)}`, version, version);
}

function conflict(key: string, what: string, expected: number, actual: number): RepriseError {
  return new RepriseError('state.conflict', `Cannot commit: "${key}" has ${what}`, {
    hint: 'Read again, and decide again.',
    details: { key, expected, actual },
  });
}

function apply(transaction: Transaction, item: JsonValue, index: number): void {
  checkFields(item, `operations[${index}]`, operationFields);
  const [key, op] = [stringAt(item, 'key'), stringAt(item, 'op')];
  const value = isObject(item) ? item['value'] : undefined;
  if (key !== undefined && op === 'delete' && value === undefined) transaction.delete(key);
  else if (key !== undefined && op === 'write' && value !== undefined) transaction.write(key, value);
  else throw malformed(`operations[${index}]`, '{ key, op: "write", value } or { key, op: "delete" }');
}

const readFields = ['key', 'version', 'seq', 'prefix', 'keys', 'seqs'];
const operationFields = ['key', 'op', 'value'];

/** Refuses a field that means nothing here: to ignore an agent would write to the state of a different one. */
function checkFields(item: JsonValue, path: string, known: readonly string[]): void {
  const other = isObject(item) ? Object.keys(item).find((name) => !known.includes(name)) : undefined;
  if (other === undefined) return;
  throw new RepriseError(
    'option.invalid',
    `Cannot commit: "${path}" has no field ${JSON.stringify(other.slice(0, 100))}`,
    {
      hint: `It may have ${known.join(', ')}. The agent is that of the request.`,
      details: { path: `${path}.${other.slice(0, 100)}` },
    },
  );
}

function malformed(path: string, form: string): RepriseError {
  return new RepriseError('option.invalid', `Cannot commit: "${path}" does not have its form`, {
    hint: `Write ${form}.`,
    details: { path },
  });
}
