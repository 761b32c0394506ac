import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { canonicalJson } from '../../core/canonical-json.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import { given, isObject, type JsonObject, type JsonValue, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { previous } from '../../core/point.ts';
import type { StateOperation, StateValue } from '../../engine/state/entry.ts';
import type { StateHandle } from '../../engine/state/state-handle.ts';
import type { Transaction } from '../../engine/state/transaction.ts';
import type { Committed, TransactionOptions } from '../../engine/state/transaction-work.ts';
import type { StateService } from '../../wire/generated/reprise/v1/state_pb.ts';
import { beatMs } from '../../wire/protocol.ts';
import { requestOf } from '../answering/call-log.ts';
import { actingAgent, checkUnbound } from '../guarding/grant.ts';
import { batched, gathered } from '../http/batches.ts';
import { jsonIn, listIn, objectIn } from '../http/json-text.ts';
import type { DoneChanges } from './done-changes.ts';
import { endOf, type FollowOptions, optionsIn, texts, type VerbParts } from './session-service.ts';

/** Names the state of an agent on a branch in a request. */
interface StatePlace {
  readonly namespace: string;
  readonly session: string;
  readonly branch: string;
  readonly agent: string;
}

/** Names a transaction in a request. */
interface HeldTransaction extends StatePlace {
  readonly transaction: string;
}

/** Returns the verbs of the state of agents. Open transactions live in this process, apart for each token. */
export function stateService(parts: VerbParts, done: DoneChanges): ServiceImpl<typeof StateService> {
  const at: AtState = async (context, { namespace, session, branch, agent: asked }) => {
    const agent = actingAgent(requestOf(context).grant, asked);
    const opened = await parts.repriseOf(context, namespace).session(session);
    const state = branch === '' ? opened.state : opened.branch(branch).state;
    return agent === '' ? state : state.as(agent);
  };
  return {
    ...reads(at, parts.draining),
    ...transactions(at, done, parts),
    async commitState(asked, context) {
      const { operations, read, requestId, options, ...place } = asked;
      const state = await at(context, place);
      const { grant } = requestOf(context);
      const change = { call: 'CommitState', requestId, request: asked, isEvent: true } as const;
      const committed = await done.once(grant, change, async () => {
        const [staged, seen] = [listIn(operations, 'operations'), listIn(read, 'read')];
        const held = { ...place, transaction: requestId };
        const before = requestId === '' ? undefined : await committedBefore(parts, state, context, held);
        if (before !== undefined && isSame(before.operations, staged, state.agent)) return before.committed;
        const begin = { ...optionsIn<object>(options), ...(requestId === '' ? {} : { txn: requestId }) };
        return await commitAt(state.begin(begin), staged, seen);
      });
      return answerOf(committed);
    },
  };
}

type AtState = (context: HandlerContext, place: StatePlace) => Promise<StateHandle>;

const answerOf = (value: unknown): { readonly answer: string } => ({ answer: JSON.stringify(value ?? null) });

type ReadCall = 'getState' | 'listKeys' | 'scanState' | 'getHistory' | 'replayState' | 'diffState';

function reads(at: AtState, draining: AbortSignal): Pick<ServiceImpl<typeof StateService>, ReadCall> {
  return {
    async getState({ key, where, ...place }, context) {
      const state = await at(context, place);
      return answerOf(where === '' ? await state.get(key) : await state.getAt(key, optionsAt(where)));
    },
    async *listKeys({ options, ...place }, context) {
      const found = (await at(context, place)).keys(optionsIn(options));
      for await (const keys of batched(gathered(found), beatMs)) yield { keys: [...keys] };
    },
    async *scanState({ prefix, options, ...place }, context) {
      const found = (await at(context, place)).scan(prefix, optionsIn(options));
      for await (const values of batched(gathered(texts(found)), beatMs)) yield { values: [...values] };
    },
    async *getHistory({ key, options, ...place }, context) {
      const found = (await at(context, place)).history(key, optionsIn(options));
      for await (const versions of batched(gathered(texts(found)), beatMs)) yield { versions: [...versions] };
    },
    async *replayState({ options, ...place }, context) {
      const { grant } = requestOf(context);
      const asked = optionsIn<FollowOptions & { readonly agent?: string | null }>(options);
      const signal = endOf(context.signal, draining, asked);
      // To read its own state instead would be the answer to a different question.
      if (asked.agent !== undefined && asked.agent !== grant.agent)
        checkUnbound(grant, 'replay the state of other agents');
      const found = (await at(context, place)).replay({ ...asked, ...given({ agent: grant.agent }), signal });
      for await (const held of batched(gathered(texts(found)), beatMs)) yield { transactions: [...held] };
    },
    async *diffState({ left, right, options, ...place }, context) {
      const state = await at(context, place);
      const found = state.diff(left, right === '' ? undefined : right, optionsIn(options));
      for await (const held of batched(gathered(texts(found)), beatMs)) yield { changes: [...held] };
    },
  };
}

const optionsAt = (where: string): { readonly version?: number } => objectIn(where, 'where') as { version?: number };

type TransactionCall =
  | 'beginTransaction'
  | 'writeState'
  | 'deleteState'
  | 'readState'
  | 'commitTransaction'
  | 'abortTransaction';

function transactions(
  at: AtState,
  done: DoneChanges,
  parts: VerbParts,
): Pick<ServiceImpl<typeof StateService>, TransactionCall> {
  const open = async (
    context: HandlerContext,
    { transaction, agent, ...place }: HeldTransaction,
  ): Promise<Transaction> => {
    const state = await at(context, { agent, ...place });
    try {
      const found = state.openTransaction(transaction);
      const acting = actingAgent(requestOf(context).grant, agent);
      return acting === '' ? found : found.as(acting);
    } catch (error) {
      throw elsewhere(error);
    }
  };
  return {
    async beginTransaction({ options, ...place }, context) {
      const state = await at(context, place);
      const begin = optionsIn<TransactionOptions>(options);
      if (typeof begin.txn === 'string') {
        if (isOpen(state, begin.txn) || (await parts.locate(context, place, begin.txn)) !== undefined)
          throw usedBefore(begin.txn);
        done.forget(requestOf(context).grant, begin.txn);
      }
      return { transaction: state.begin(begin).txn };
    },
    async writeState({ key, value, ...held }, context) {
      (await open(context, held)).write(key, jsonIn(value, 'value'));
      return {};
    },
    async deleteState({ key, ...held }, context) {
      (await open(context, held)).delete(key);
      return {};
    },
    async readState({ key, ...held }, context) {
      return answerOf(await (await open(context, held)).get(key));
    },
    async commitTransaction(held, context) {
      const { grant } = requestOf(context);
      const commit = async (): Promise<Committed> => {
        const transaction = await open(context, held).catch(async (error: unknown) => {
          if (!hasCode(error, 'transaction.not-found')) throw error;
          const before = await committedBefore(parts, await at(context, held), context, held);
          if (before === undefined) throw error;
          return { commit: async () => before.committed };
        });
        return await transaction.commit();
      };
      const { transaction: requestId } = held;
      return answerOf(await done.once(grant, { call: 'CommitTransaction', requestId, request: held }, commit));
    },
    async abortTransaction(held, context) {
      (await open(context, held)).abort();
      return {};
    },
  };
}

/** Tells whether a transaction is open where a client begins one. */
function isOpen(state: StateHandle, txn: string): boolean {
  try {
    return state.openTransaction(txn).txn === txn;
  } catch (error) {
    if (hasCode(error, 'transaction.not-found')) return false;
    throw error;
  }
}

/** Refuses to begin a transaction again: a commit of it would be answered with the result of the other one. */
function usedBefore(txn: string): RepriseError {
  return new RepriseError('event.id-reused', `Cannot begin transaction "${txn}": its id was used before`, {
    hint: 'Use a new id for each transaction. One that is open is continued by its id.',
    details: { id: txn },
  });
}

/**
 * Returns a transaction that was committed before on the branch of a state, by the id of its event: the process that
 * held it may have ended before its answer arrived.
 */
async function committedBefore(
  parts: VerbParts,
  state: StateHandle,
  context: HandlerContext,
  { transaction, ...place }: HeldTransaction,
): Promise<{ readonly committed: Committed; readonly operations: readonly StateOperation[] } | undefined> {
  const point = await parts.locate(context, place, transaction);
  if (point?.branch !== state.branch) return undefined;
  const { agent } = requestOf(context).grant;
  const range = { after: previous(point.seq), through: point.seq, agent: agent ?? null };
  for await (const { txn, seq, time, operations } of state.replay(range)) {
    if (txn !== transaction || operations.length === 0) continue;
    const versions = operations.map(({ agent: of, key, version }) => ({ agent: of, key, version }));
    return { committed: { txn, seq, time, versions }, operations };
  }
  return undefined;
}

/** Tells whether operations that were committed are those of a request. */
function isSame(committed: readonly StateOperation[], asked: readonly JsonValue[], agent: string): boolean {
  const before = committed.map(
    ({ agent: of, key, op, value }): JsonObject => ({ agent: of, key, op, ...given({ value }) }),
  );
  return canonicalJson(before) === canonicalJson(asked.map((item) => (isObject(item) ? { ...item, agent } : item)));
}

/** Says why a transaction that a client holds may not be known here. */
function elsewhere(error: unknown): unknown {
  if (!hasCode(error, 'transaction.not-found')) return error;
  return new RepriseError('transaction.not-found', error.message, {
    hint: 'A transaction lives in the server process that began it, and belongs to the token that began it. Begin a new one.',
    details: error.details,
  });
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
