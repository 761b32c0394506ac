import { RepriseError } from '../../core/error.ts';
import { checkAgent, checkKey } from '../../core/event/state-key.ts';
import type { JsonInputValue } from '../../core/json.ts';
import type { StateValue } from './entry.ts';
import type { KeyOf } from './lookup.ts';
import type { Committed } from './transaction-work.ts';

/** Refuses to show the state of one agent, or of all if it is null, to a different one. */
export function refuseOther(agent: string, other: string | null): never {
  throw new RepriseError(
    'scope.denied',
    `Cannot use the state of ${other === null ? 'every agent' : `"${other}"`} as "${agent}": an agent has its own alone`,
    {
      hint: 'Use session.state.as(agent), the state as the operator sees it.',
      details: { agent, other },
    },
  );
}

/** The work of a transaction: in this process, or gathered here and committed by a server. */
export interface OpenWork {
  readonly txn: string;
  readonly committed: Committed | undefined;
  readonly isInConflict: boolean;
  readonly isOpen: boolean;
  write(of: KeyOf, value: JsonInputValue): void;
  delete(of: KeyOf): void;
  get(of: KeyOf): Promise<StateValue>;
  scan(agent: string, prefix: string): AsyncGenerator<StateValue, void, undefined>;
  commit(): Promise<Committed>;
  abort(): void;
}

/** Refuses the keys of a different agent, for a transaction that is handed to its agent. */
export type RefuseAgent = (own: string, asked: string) => void;

/**
 * Writes and deletes that are committed together or not at all. The transaction reads everything at one point, and its
 * commit fails if a key it read has changed since. It expires if it is never ended; bound with `await using`, it is
 * aborted unless it was committed.
 */
export class Transaction implements AsyncDisposable {
  /** Whose keys are read and written; {@link Transaction.as} returns the same transaction for a different agent. */
  readonly agent: string;
  readonly #work: OpenWork;
  readonly #refuse: RefuseAgent | undefined;

  /** With `refuse`, the transaction is handed to its agent: it reads and writes the keys of no other. */
  constructor(work: OpenWork, agent: string, refuse?: RefuseAgent) {
    this.#work = work;
    this.agent = agent;
    this.#refuse = refuse;
  }

  /** The id of the transaction, which will be the id of its event. */
  get txn(): string {
    return this.#work.txn;
  }

  /** The result of the commit; undefined before there is one. */
  get committed(): Committed | undefined {
    return this.#work.committed;
  }

  /** Whether the commit found that a key the transaction read was changed. */
  get isInConflict(): boolean {
    return this.#work.isInConflict;
  }

  /**
   * Returns the same transaction for the keys of a different agent.
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
    const asked = checkAgent(agent);
    if (asked !== this.agent) this.#refuse?.(this.agent, asked);
    return new Transaction(this.#work, asked, this.#refuse);
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
   * Returns the value of a key in this transaction: its own write, or the value at the point it reads from.
   *
   * @example
   * ```ts
   * await session.state.transaction(async (tx) => {
   *   const { value } = await tx.get('count');
   *   tx.write('count', Number(value ?? 0) + 1); // no increment of a different writer is lost
   * });
   * ```
   */
  get(key: string): Promise<StateValue> {
    const of = { agent: this.agent, key: checkKey(key) };
    return this.#work.get(of);
  }

  /**
   * Lists the keys with a prefix that have a value in this transaction, with their values. A key that a different
   * writer adds under the prefix is a conflict.
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
   * Appends everything as one event, or nothing. `state.conflict` if a key it read was changed; then begin again.
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
   * Aborts the transaction; nothing of it is stored. Aborting twice is harmless.
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
