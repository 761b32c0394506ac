import { RepriseError } from '../../core/error.ts';
import { checkAgent, checkKey } from '../../core/event/state-key.ts';
import type { JsonInputValue } from '../../core/json.ts';
import type { StateValue } from './entry.ts';
import type { TransactionVerbs } from './state-verbs.ts';
import type { Committed, TransactionWork } from './transaction-work.ts';

/** Refuses to show the state of one agent, or of all if it is null, to a different one. */
export function refuseOther(agent: string, other: string | null): never {
  throw new RepriseError(
    'scope.denied',
    `Cannot use the state of ${other === null ? 'every agent' : `"${other}"`} as "${agent}": an agent has its own alone`,
    {
      hint: 'Use session.state.as(agent), the surface of the operator.',
      details: { agent, other },
    },
  );
}

/** An open transaction of one agent. `TransactionVerbs` describes the verbs. */
export class Transaction implements TransactionVerbs {
  /** Whose keys are read and written; {@link Transaction.as} returns the same transaction for a different agent. */
  readonly agent: string;
  readonly #work: TransactionWork;
  readonly #isBound: boolean;

  /** A bound transaction is handed to its agent: it reads and writes the keys of no other. */
  constructor(work: TransactionWork, agent: string, isBound = false) {
    this.#work = work;
    this.agent = agent;
    this.#isBound = isBound;
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

  as(agent: string): Transaction {
    if (this.#isBound && agent !== this.agent) refuseOther(this.agent, agent);
    return new Transaction(this.#work, checkAgent(agent), this.#isBound);
  }

  write(key: string, value: JsonInputValue): void {
    this.#work.write({ agent: this.agent, key: checkKey(key) }, value);
  }

  delete(key: string): void {
    this.#work.delete({ agent: this.agent, key: checkKey(key) });
  }

  get(key: string): Promise<StateValue> {
    const of = { agent: this.agent, key: checkKey(key) };
    return this.#work.get(of);
  }

  scan(prefix: string): AsyncGenerator<StateValue, void, undefined> {
    return this.#work.scan(this.agent, checkKey(prefix));
  }

  commit(): Promise<Committed> {
    return this.#work.commit();
  }

  abort(): void {
    this.#work.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#work.isOpen) this.#work.abort();
  }
}
