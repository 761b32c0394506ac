import { canonicalForm } from '../../core/canonical-json.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import type { JsonInputValue, JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkBytes, checkLimit } from '../../core/limits.ts';
import type { AgentArguments, AgentPort } from '../../core/store/agent-port.ts';
import type { Platform } from '../../core/store/event-store.ts';
import { compareUtf8 } from '../../core/utf8.ts';
import { neverWritten, type StateValue } from './entry.ts';
import type { KeyOf } from './lookup.ts';
import type { OpenWork } from './transaction.ts';
import {
  type Committed,
  checkTimeout,
  type TransactionOptions,
  timeoutMsDefault,
  transactionOptionNames,
} from './transaction-work.ts';

const beginKeys: KnownKeys = optionKeys<TransactionOptions>('begin', transactionOptionNames, 'a transaction');

type Operation = {
  readonly key: string;
  readonly op: 'write' | 'delete';
  readonly value?: JsonValue;
};

/** The world of a transaction: where it is committed, and where it reads. */
interface CarriedParts {
  readonly platform: Platform;
  readonly port: AgentPort;
  readonly place: () => Promise<AgentArguments>;
  readonly state: {
    get(key: string): Promise<StateValue>;
    scan(prefix: string): AsyncGenerator<StateValue, void, undefined>;
  };
}

/** A version that was read. Its number alone is not enough: numbers repeat after a rewind, and seqs never do. */
type ReadVersion = Pick<StateValue, 'version' | 'seq'>;

/**
 * A transaction that gathers its operations here and commits them in one call, along with the versions that it read. The
 * server commits them only if those versions are still the last ones.
 */
export class CarriedWork implements OpenWork {
  readonly #agent: string;
  readonly txn: string;
  readonly #parts: CarriedParts;
  readonly #options: TransactionOptions;
  readonly #deadline: number;
  readonly #operations: Operation[] = [];
  readonly #keysRead = new Map<string, ReadVersion>();
  readonly #prefixesRead = new Map<string, readonly (ReadVersion & Pick<StateValue, 'key'>)[]>();
  #status: 'open' | 'committed' | 'aborted' | 'in conflict' = 'open';
  committed: Committed | undefined;

  constructor(parts: CarriedParts, options: TransactionOptions) {
    checkKeys(options, beginKeys);
    this.#parts = parts;
    this.#options = options;
    this.#agent = parts.port.agent;
    this.txn = options.txn === undefined ? parts.platform.newId() : checkId('event', options.txn);
    this.#deadline = parts.platform.elapsedMs() + checkTimeout(options.timeoutMs ?? timeoutMsDefault);
  }

  get isOpen(): boolean {
    return this.#status === 'open';
  }

  get isInConflict(): boolean {
    return this.#status === 'in conflict';
  }

  write({ key }: KeyOf, value: JsonInputValue): void {
    const { text, copy } = canonicalForm(value);
    checkBytes('stateValueBytesMax', [text], `write ${JSON.stringify(key)}`);
    this.#stage({ key, op: 'write', value: copy });
  }

  delete({ key }: KeyOf): void {
    this.#stage({ key, op: 'delete' });
  }

  #stage(operation: Operation): void {
    this.#checkOpen('write in');
    checkLimit('transactionOperationsMax', this.#operations.length + 1, 'write in a transaction');
    this.#operations.push(operation);
  }

  async get({ key }: KeyOf): Promise<StateValue> {
    this.#checkOpen('read in');
    const own = this.#operations.findLast((operation) => operation.key === key);
    if (own !== undefined) return this.#pending(own);
    const found = await this.#parts.state.get(key);
    this.#read(key, found);
    return found;
  }

  /** Keeps the version that was read first: a later one shows a conflict. */
  #read(key: string, { version, seq }: ReadVersion): void {
    if (this.#keysRead.has(key)) return;
    checkLimit('transactionReadsMax', this.#keysRead.size + this.#prefixesRead.size + 1, 'read in a transaction');
    this.#keysRead.set(key, { version, seq });
  }

  async *scan(_agent: string, prefix: string): AsyncGenerator<StateValue, void, undefined> {
    this.#checkOpen('read in');
    const held: StateValue[] = [];
    for await (const value of this.#parts.state.scan(prefix)) held.push(value);
    checkLimit('transactionReadsMax', this.#keysRead.size + this.#prefixesRead.size + 1, 'read in a transaction');
    if (!this.#prefixesRead.has(prefix))
      this.#prefixesRead.set(
        prefix,
        held.map(({ key, version, seq }) => ({ key, version, seq })),
      );
    const values = new Map(held.map((value) => [value.key, value]));
    for (const operation of this.#operations.filter(({ key }) => key.startsWith(prefix))) {
      if (operation.op === 'write') values.set(operation.key, this.#pending(operation));
      else values.delete(operation.key);
    }
    yield* [...values.values()].sort((left, right) => compareUtf8(left.key, right.key));
  }

  #pending({ key, op, value }: Operation): StateValue {
    return { ...neverWritten(this.#agent, key), value: value ?? null, exists: op === 'write', pending: true };
  }

  async commit(): Promise<Committed> {
    this.#checkOpen('commit');
    const { port, place } = this.#parts;
    const { timeoutMs: _, txn: __, ...about } = this.#options;
    const read = [
      ...Array.from(this.#keysRead, ([key, { version, seq }]) => ({ key, version, seq })),
      ...Array.from(this.#prefixesRead, ([prefix, values]) => ({
        prefix,
        keys: Object.fromEntries(values.map(({ key, version }) => [key, version])),
        seqs: Object.fromEntries(values.map(({ key, seq }) => [key, seq])),
      })),
    ];
    try {
      const operations = this.#operations;
      const input = { ...about, ...(await place()), operations, read, requestId: this.txn };
      const committed = await port.ask('state.transaction', input);
      this.committed = committed as Committed;
      this.#status = 'committed';
      return this.committed;
    } catch (error) {
      if (hasCode(error, 'state.conflict')) this.#status = 'in conflict';
      throw error;
    }
  }

  abort(): void {
    if (this.#status === 'committed') this.#refuse('abort');
    if (this.#status === 'open') this.#status = 'aborted';
  }

  #checkOpen(verb: string): void {
    if (this.#status !== 'open') this.#refuse(verb);
    if (this.#parts.platform.elapsedMs() < this.#deadline) return;
    throw new RepriseError('transaction.expired', `Cannot ${verb} transaction "${this.txn}": it has expired`, {
      hint: 'Begin a new one, with a longer timeoutMs if it needs more time.',
      details: { txn: this.txn },
    });
  }

  #refuse(verb: string): never {
    throw new RepriseError('transaction.ended', `Cannot ${verb} transaction "${this.txn}": it is ${this.#status}`, {
      hint: 'Begin a new one.',
      details: { txn: this.txn, status: this.#status },
    });
  }
}
