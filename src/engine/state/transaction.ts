import { checkAgent, checkKey } from '../../core/event/state-key.ts';
import type { JsonInputValue } from '../../core/json.ts';
import type { StateValue } from './entry.ts';
import type { Committed, TransactionWork } from './transaction-work.ts';

/**
 * Writes and deletes that are committed together or not at all. Everything it reads, it reads at one point, and what it
 * read must be unchanged when it commits. It expires when it is not ended; bound with `await using` it is aborted unless
 * it was committed.
 */
export class Transaction {
  /** Whose keys are read and written; {@link Transaction.as} gives the same transaction for another agent. */
  readonly agent: string;
  readonly #work: TransactionWork;

  constructor(work: TransactionWork, agent: string) {
    this.#work = work;
    this.agent = agent;
  }

  /** The id of the transaction, which will be the id of its event. */
  get txn(): string {
    return this.#work.txn;
  }

  /** What the commit gave; undefined while there was none. */
  get committed(): Committed | undefined {
    return this.#work.committed;
  }

  /** Whether its commit found that what it read was changed. */
  get isInConflict(): boolean {
    return this.#work.isInConflict;
  }

  /**
   * The same transaction on the keys of another agent.
   *
   * @example
   * ```ts
   * await session.state.transaction((tx) => {
   *   tx.as('planner').write('plan', 'refund');
   *   tx.as('worker').write('task', { order: 7 });
   * });
   * ```
   */
  as(agent: string): Transaction {
    return new Transaction(this.#work, checkAgent(agent));
  }

  /**
   * Writes a value under a key, once it is committed. Writing a key twice makes two versions.
   *
   * @example
   * ```ts
   * await using tx = session.state.begin();
   * tx.write('plan', { next: 'ask' });
   * const { seq, versions } = await tx.commit();
   * ```
   */
  write(key: string, value: JsonInputValue): void {
    this.#work.write({ agent: this.agent, key: checkKey(key) }, value);
  }

  /**
   * Deletes a key, once it is committed. A delete makes a version too.
   *
   * @example
   * ```ts
   * await session.state.transaction((tx) => tx.delete('plan'));
   * ```
   */
  delete(key: string): void {
    this.#work.delete({ agent: this.agent, key: checkKey(key) });
  }

  /**
   * What a key holds for this transaction: what it wrote itself, else what was there when it first read.
   *
   * @example
   * ```ts
   * await session.state.transaction(async (tx) => {
   *   const { value } = await tx.get('count');
   *   tx.write('count', Number(value ?? 0) + 1); // nobody else's increment is lost
   * });
   * ```
   */
  get(key: string): Promise<StateValue> {
    const of = { agent: this.agent, key: checkKey(key) };
    return this.#work.get(of);
  }

  /**
   * The keys that hold a value for this transaction, with their values. A key that another writer adds under the prefix
   * is a conflict.
   *
   * @example
   * ```ts
   * await session.state.transaction(async (tx) => {
   *   for await (const { key } of tx.scan('draft/')) tx.delete(key);
   * });
   * ```
   */
  scan(prefix: string): AsyncGenerator<StateValue, void, undefined> {
    return this.#work.scan(this.agent, checkKey(prefix));
  }

  /**
   * Appends everything as one event, or nothing. `state.conflict` if what it read was changed; then begin again.
   *
   * @example
   * ```ts
   * const tx = session.state.begin();
   * tx.write('plan', 'ask');
   * const { txn, seq, time, versions } = await tx.commit(); // versions: [{ agent: 'default', key: 'plan', version: 1 }]
   * ```
   */
  commit(): Promise<Committed> {
    return this.#work.commit();
  }

  /**
   * Gives the transaction up; nothing of it is stored. Doing it twice is harmless.
   *
   * @example
   * ```ts
   * const tx = session.state.begin();
   * tx.write('plan', 'ask');
   * tx.abort();
   * ```
   */
  abort(): void {
    this.#work.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#work.isOpen) this.#work.abort();
  }
}
