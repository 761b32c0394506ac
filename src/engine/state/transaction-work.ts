import { canonicalForm } from '../../core/canonical-json.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import { stateKey } from '../../core/event/state-key.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonInputValue } from '../../core/json.ts';
import { shownValue } from '../../core/known-keys.ts';
import { checkBytes, checkLimit } from '../../core/limits.ts';
import type { Seq } from '../../core/point.ts';
import { compareUtf8 } from '../../core/utf8.ts';
import type { Engine } from '../context/engine.ts';
import type { OpenTransaction } from '../context/transactions.ts';
import { findPlace } from '../history/place.ts';
import { type CommitPlan, commitState, type StagedOperation } from './commit.ts';
import { neverWritten, operationsOf, type StateValue } from './entry.ts';
import { type KeyOf, type StateView, scanState, stateView, valueOf } from './lookup.ts';

/** The options of a transaction. */
export interface TransactionOptions {
  /** How long it may stay open, measured from its beginning: 30,000 if left out. */
  readonly timeoutMs?: number;
  /** The id of the event that led to it. */
  readonly cause?: string;
  readonly run?: string;
  readonly turn?: number;
  /** The id of the transaction, which will be the id of its event; a new one if left out. */
  readonly txn?: string;
}

/** The names of those options. */
export const transactionOptionNames: Readonly<Record<keyof TransactionOptions, true>> = {
  timeoutMs: true,
  cause: true,
  run: true,
  turn: true,
  txn: true,
};

/** The result of a commit. */
export interface Committed {
  /** The id of the transaction, and of its event. */
  readonly txn: string;
  /** The seq of its event, by which commits are ordered. If nothing was written, the head it read. */
  readonly seq: Seq;
  /** The wall clock. */
  readonly time: string;
  /** The version of each write and delete, in their order; empty if nothing was written, and then no event was appended. */
  readonly versions: readonly { readonly agent: string; readonly key: string; readonly version: number }[];
}

type Status = 'open' | 'committing' | 'committed' | 'aborted' | 'in conflict' | 'expired' | 'closed';

/** How long a transaction may stay open if nothing is said. */
export const timeoutMsDefault = 30_000;

/** A turn that an agent is in: its transactions belong to it, unless they say otherwise. */
export interface DuringTurn {
  readonly turn: number;
  /** The id of its `turn.started`. */
  readonly cause: string;
  /** The epoch of the branch: after a rewind nothing of the turn is written any more. */
  readonly epoch: Seq;
  /** Throws once the turn is over: what still runs then must not write. */
  readonly check?: () => void;
}

/** The branch a transaction is on, and the agent who began it. */
interface TransactionScope {
  readonly engine: Engine;
  readonly session: string;
  readonly branch: string;
  readonly agent: string;
  readonly during?: DuringTurn;
}

/** The state that all handles of one transaction share: its operations, its reads, and its status. */
export class TransactionWork implements OpenTransaction {
  readonly txn: string;
  readonly deadline: number;
  readonly scope: TransactionScope;
  readonly #options: TransactionOptions;
  readonly #keysRead = new Set<string>();
  readonly #prefixesRead = new Set<string>();
  #status: Status = 'open';
  #operations: StagedOperation[] = [];
  #staged = new Map<string, StagedOperation>();
  #stagedBytes = 0;
  #reading: Promise<{ readonly since: Seq; readonly look: StateView }> | undefined;
  #plan: CommitPlan | undefined;
  #committed: Committed | undefined;

  constructor(scope: TransactionScope, options: TransactionOptions) {
    const { transactions, platform } = scope.engine;
    const timeoutMs = checkTimeout(options.timeoutMs ?? timeoutMsDefault);
    this.scope = scope;
    this.#options = options;
    this.txn = options.txn === undefined ? platform.newId() : checkId('event', options.txn);
    const now = transactions.now();
    this.deadline = now + timeoutMs;
    transactions.add(this, now);
  }

  get isOpen(): boolean {
    return this.#status === 'open';
  }

  /** Whether the commit found that a key the transaction read was changed. */
  get isInConflict(): boolean {
    return this.#status === 'in conflict';
  }

  /** The result of the commit, if there was one. */
  get committed(): Committed | undefined {
    return this.#committed;
  }

  write(of: KeyOf, value: JsonInputValue): void {
    this.#checkOpen('write in');
    const { text, copy } = canonicalForm(value);
    checkBytes('stateValueBytesMax', [text], `write ${JSON.stringify(of.key)}`);
    // All values become one event. Refuse now what could not be stored then.
    const bytes = this.#stagedBytes + text.length;
    checkLimit('payloadBytesMax', bytes, 'write in a transaction: all values together');
    this.#stage({ ...of, op: 'write', value: copy });
    this.#stagedBytes = bytes;
  }

  delete(of: KeyOf): void {
    this.#checkOpen('delete in');
    this.#stage({ ...of, op: 'delete' });
  }

  #stage(operation: StagedOperation): void {
    checkLimit('transactionOperationsMax', this.#operations.length + 1, 'write in a transaction');
    this.#operations.push(operation);
    this.#staged.set(stateKey(operation.agent, operation.key), operation);
    // The plan of a failed commit no longer fits.
    this.#plan = undefined;
  }

  async get(of: KeyOf): Promise<StateValue> {
    this.#checkOpen('read in');
    const key = stateKey(of.agent, of.key);
    const own = this.#staged.get(key);
    if (own !== undefined) return pending(own);
    const { look } = await this.#read(this.#keysRead, key);
    return valueOf(look, of);
  }

  /** Yields the values the transaction would leave under a prefix, by the UTF-8 bytes of the key. */
  async *scan(agent: string, prefix: string): AsyncGenerator<StateValue, void, undefined> {
    this.#checkOpen('read in');
    const own = [...this.#staged.values()]
      .filter((operation) => operation.agent === agent && operation.key.startsWith(prefix))
      .sort((left, right) => compareUtf8(left.key, right.key));
    const { look } = await this.#read(this.#prefixesRead, stateKey(agent, prefix));
    let next = own.shift();
    for await (const held of scanState(look, agent, prefix)) {
      for (; next !== undefined && compareUtf8(next.key, held.key) < 0; next = own.shift()) yield* written(next);
      if (next?.key !== held.key) yield held;
      else {
        yield* written(next);
        next = own.shift();
      }
    }
    for (; next !== undefined; next = own.shift()) yield* written(next);
  }

  /** Reads everything at one point: the head at the first read. */
  async #read(reads: Set<string>, key: string): Promise<{ readonly since: Seq; readonly look: StateView }> {
    if (!reads.has(key))
      checkLimit('transactionReadsMax', this.#keysRead.size + this.#prefixesRead.size + 1, 'read in a transaction');
    reads.add(key);
    this.#reading ??= this.#lookAtHead();
    try {
      return await this.#reading;
    } catch (error) {
      this.#reading = undefined;
      throw error;
    }
  }

  async #lookAtHead(): Promise<{ readonly since: Seq; readonly look: StateView }> {
    const { engine, session, branch } = this.scope;
    const place = await findPlace(engine, session, { branch });
    return { since: place.seq, look: stateView(engine, place) };
  }

  async commit(): Promise<Committed> {
    this.#checkOpen('commit');
    this.#status = 'committing';
    try {
      this.#committed = this.#operations.length === 0 ? await this.#commitNothing() : await this.#commit();
      this.#end('committed');
      return this.#committed;
    } catch (error) {
      if (hasCode(error, 'state.conflict')) this.#end('in conflict');
      else {
        // Any other failure may pass with a retry: the event has an id, so it is not stored twice.
        this.#status = 'open';
        // Its timer may have fired meanwhile, and nothing else would expire it.
        this.#expireIfDue();
      }
      throw error;
    }
  }

  async #commitNothing(): Promise<Committed> {
    const { engine, session, branch } = this.scope;
    const { seq } = await findPlace(engine, session, { branch });
    const since = (await this.#reading)?.since ?? seq;
    return { txn: this.txn, seq: since, time: engine.platform.now(), versions: [] };
  }

  async #commit(): Promise<Committed> {
    const { engine, session, branch, agent, during } = this.scope;
    during?.check?.();
    const { cause, run, turn } = this.#options;
    const reading = await this.#reading;
    const event = await commitState(
      engine,
      {
        session,
        branch,
        draft: {
          type: 'state.committed',
          id: this.txn,
          agent,
          ...given({ cause, run, turn }),
        },
        operations: this.#operations,
        ...given({ epoch: during?.epoch }),
        ...(reading === undefined
          ? {}
          : { reads: { since: reading.since, keys: this.#keysRead, prefixes: this.#prefixesRead } }),
      },
      (plan) => {
        this.#plan = plan;
      },
      this.#plan,
    );
    const versions = operationsOf(event).map(({ agent: owner, key, version }) => ({ agent: owner, key, version }));
    return { txn: this.txn, seq: event.seq, time: event.time, versions };
  }

  abort(): void {
    this.#expireIfDue();
    if (this.#status === 'committed' || this.#status === 'committing') this.#refuse('abort');
    if (this.#status === 'open') this.#end('aborted');
  }

  expire(): void {
    if (this.#status === 'open') this.#end('expired');
  }

  close(): void {
    if (this.#status === 'open') this.#end('closed');
  }

  #end(status: Status): void {
    this.#status = status;
    this.#operations = [];
    this.#staged = new Map();
    this.#stagedBytes = 0;
    this.#reading = undefined;
    this.#plan = undefined;
    this.#keysRead.clear();
    this.#prefixesRead.clear();
    this.scope.engine.transactions.remove(this);
  }

  #expireIfDue(): void {
    if (this.scope.engine.transactions.now() >= this.deadline) this.expire();
  }

  #checkOpen(verb: string): void {
    this.#expireIfDue();
    if (this.#status !== 'open') this.#refuse(verb);
  }

  #refuse(verb: string): never {
    const { txn } = this;
    if (this.#status === 'expired') {
      throw new RepriseError('transaction.expired', `Cannot ${verb} transaction "${txn}": it has expired`, {
        hint: 'Begin a new one, with a longer timeoutMs if it needs more time.',
        details: { txn },
      });
    }
    throw new RepriseError('transaction.ended', `Cannot ${verb} transaction "${txn}": ${this.#howItEnded()}`, {
      hint: 'Begin a new one.',
      details: { txn, status: this.#status },
    });
  }

  #howItEnded(): string {
    switch (this.#status) {
      case 'committed':
        return `it was committed at seq ${this.#committed?.seq}`;
      case 'committing':
        return 'it is being committed';
      case 'aborted':
        return 'it was aborted';
      case 'in conflict':
        return 'it ended in a conflict';
      case 'closed':
        return 'the store was closed';
      case 'open':
      case 'expired':
        return `it is ${this.#status}`;
    }
  }
}

/** Refuses a time that a transaction may not stay open for. */
export function checkTimeout(timeoutMs: number): number {
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1)
    throw new RepriseError('option.invalid', `Cannot begin a transaction with timeoutMs ${shownValue(timeoutMs)}`, {
      hint: 'It takes a whole number from 1.',
      details: { option: 'timeoutMs' },
    });
  checkLimit('transactionMsMax', timeoutMs, 'begin a transaction');
  return timeoutMs;
}

function pending({ agent, key, op, value }: StagedOperation): StateValue {
  return { ...neverWritten(agent, key), value: value ?? null, exists: op === 'write', pending: true };
}

function written(operation: StagedOperation): StateValue[] {
  return operation.op === 'write' ? [pending(operation)] : [];
}
