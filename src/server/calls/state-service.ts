import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { hasCode, RepriseError } from '../../core/error.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { parseRef } from '../../core/ref.ts';
import type { State } from '../../engine/state/state.ts';
import type { Transaction } from '../../engine/state/transaction.ts';
import type { Committed, TransactionOptions } from '../../engine/state/transaction-work.ts';
import type { CommitStateRequest, StatePlace, StateService } from '../../wire/generated/reprise/v1/state_pb.ts';
import { fromWhole, fromWholeOr, toWhole } from '../../wire/whole-number.ts';
import { actingAgent, type Grant } from '../guarding/grant.ts';
import { jsonIn } from '../http/json-text.ts';
import type { DoneChanges } from './done-changes.ts';
import { type AskedCommit, type CommitPlace, commitOnce, committedBefore } from './state-commits.ts';
import type { DoorParts } from './verb-door.ts';

/** The parts of a server that transactions need. */
interface StateServiceParts extends Pick<DoorParts, 'stateOf' | 'locate'> {
  readonly grantOf: (context: HandlerContext) => Grant;
  /** Recognizes repeated changes. */
  readonly done: DoneChanges;
}

/** A transaction that a request names. */
interface HeldTransaction {
  readonly place?: StatePlace | undefined;
  readonly transaction: string;
}

/** Returns the calls of transactions. Open ones live in this process, apart for each token. */
export function stateService(parts: StateServiceParts): ServiceImpl<typeof StateService> {
  const { grantOf, done } = parts;
  const at = (context: HandlerContext, place: StatePlace | undefined): Promise<CommitPlace> =>
    placeOf(parts, grantOf(context), place);
  const open = async (context: HandlerContext, { place, transaction }: HeldTransaction): Promise<Transaction> => {
    const { state } = await at(context, place);
    try {
      const found = state.openTransaction(transaction);
      const acting = actingAgent(grantOf(context), place?.agent ?? '');
      return acting === '' ? found : found.as(acting);
    } catch (error) {
      throw elsewhere(error);
    }
  };
  return {
    async commitState(asked, context) {
      const place = await at(context, asked.place);
      const change = { call: 'CommitState', requestId: asked.requestId, request: asked, isEvent: true } as const;
      const committed = await done.once(grantOf(context), change, () => commitOnce(place, commitIn(asked)));
      return { committed: committedToWire(committed) };
    },
    async beginTransaction({ place: name, transaction: txn, timeoutMs, ...about }, context) {
      const place = await at(context, name);
      if (txn !== '') {
        if (isOpen(place.state, txn) || (await place.locate(txn)) !== undefined) throw usedBefore(txn);
        done.forget(grantOf(context), txn);
      }
      const named = given({ txn: txn === '' ? undefined : txn, timeoutMs: fromWholeOr(timeoutMs) });
      return { transaction: place.state.begin({ ...optionsIn(about), ...named }).txn };
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
      return { answer: JSON.stringify(await (await open(context, held)).get(key)) };
    },
    async commitTransaction(held, context) {
      const { transaction: requestId } = held;
      const commit = async (): Promise<Committed> => {
        const transaction = await open(context, held).catch(async (error: unknown) => {
          if (!hasCode(error, 'transaction.not-found')) throw error;
          const before = await committedBefore(await at(context, held.place), requestId);
          if (before === undefined) throw error;
          return { commit: async () => before.committed };
        });
        return await transaction.commit();
      };
      const change = { call: 'CommitTransaction', requestId, request: held };
      return { committed: committedToWire(await done.once(grantOf(context), change, commit)) };
    },
    async abortTransaction(held, context) {
      (await open(context, held)).abort();
      return {};
    },
  };
}

/** Finds the state that a request names. */
async function placeOf(
  { stateOf, locate }: StateServiceParts,
  grant: Grant,
  place: StatePlace | undefined,
): Promise<CommitPlace> {
  const { namespace = '', ref: text = '', agent: asked = '' } = place ?? {};
  if (text.includes('@'))
    throw new RepriseError('option.invalid', 'Cannot write state: "place.ref" names a point', {
      hint: 'Name the branch alone, for example "demo/careful".',
      details: { path: 'place.ref' },
    });
  const { session: id, branch } = parseRef(text);
  const agent = actingAgent(grant, asked);
  const session = await stateOf(grant, namespace).session(id);
  const { state } = session.branch(branch);
  return {
    state: agent === '' ? state : state.as(agent),
    branch,
    bound: grant.agent,
    locate: (found) => locate(grant, { namespace, session: session.id }, found),
  };
}

function optionsIn({ cause, run, turn }: Pick<CommitStateRequest, 'cause' | 'run' | 'turn'>): TransactionOptions {
  return given({
    cause: cause === '' ? undefined : cause,
    run: run === '' ? undefined : run,
    turn: fromWholeOr(turn),
  });
}

/** Returns a commit as the library takes it. */
function commitIn(asked: CommitStateRequest): AskedCommit {
  const read = ({ key, version, seq }: CommitStateRequest['read'][number]): JsonObject => ({
    key,
    version: fromWhole(version),
    ...given({ seq: fromWholeOr(seq) }),
  });
  const scans = asked.scans.map(({ prefix, keys }): JsonObject => {
    const seqs = keys.flatMap(({ key, seq }) => (seq === undefined ? [] : [[key, fromWhole(seq)] as const]));
    const versions = keys.map(({ key, version }) => [key, fromWhole(version)] as const);
    return { prefix, keys: Object.fromEntries(versions), seqs: Object.fromEntries(seqs) };
  });
  return {
    operations: asked.operations.map(({ key, value }, index) =>
      value === undefined
        ? { key, op: 'delete' }
        : { key, op: 'write', value: jsonIn(value, `operations[${index}].value`) },
    ),
    read: [...asked.read.map(read), ...scans],
    requestId: asked.requestId,
    options: optionsIn(asked),
  };
}

function committedToWire({ txn, seq, time, versions }: Committed) {
  const written = versions.map(({ agent, key, version }) => ({ agent, key, version: toWhole(version) }));
  return { transaction: txn, seq: toWhole(seq), time, versions: written };
}

/** Returns true if a transaction is open where a client begins one. */
function isOpen(state: State, txn: string): boolean {
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

/** Says why a client's transaction may not be known here. */
function elsewhere(error: unknown): unknown {
  if (!hasCode(error, 'transaction.not-found')) return error;
  return new RepriseError('transaction.not-found', error.message, {
    hint: 'A transaction lives in the server process that began it, and belongs to the token that began it. Begin a new one.',
    details: error.details,
  });
}
