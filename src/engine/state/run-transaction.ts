import { checkFunction, checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkLimit } from '../../core/limits.ts';
import { refuseCount } from './refuse-count.ts';
import type { Ran, RunOptions } from './state-options.ts';
import type { Transaction } from './transaction.ts';
import { type TransactionOptions, transactionOptionNames } from './transaction-work.ts';

const retriesDefault = 5;

const runKeys: KnownKeys = optionKeys<RunOptions>(
  'run a transaction',
  { ...transactionOptionNames, retries: 'number' },
  'a transaction',
);

/** Runs a function in a transaction and commits. After a conflict, it runs the function again in a new one. */
export async function runTransaction<Result>(
  begin: (options: TransactionOptions) => Transaction,
  work: (tx: Transaction) => Result | Promise<Result>,
  options: RunOptions,
): Promise<Ran<Result>> {
  checkFunction(work, 'run a transaction');
  checkKeys(options, runKeys);
  const { retries = retriesDefault, ...rest } = options;
  if (!Number.isSafeInteger(retries) || retries < 0) refuseCount('retries', retries);
  checkLimit('transactionRetriesMax', retries, 'run a transaction');
  for (let tries = 0; ; tries++) {
    await using tx = begin(rest);
    try {
      const result = await work(tx);
      return { ...(tx.committed ?? (await tx.commit())), result };
    } catch (error) {
      // Retry only for its own conflict, even if the function committed itself; a different transaction's conflict is
      // the caller's.
      if (!tx.isInConflict || tries >= retries) throw error;
    }
  }
}
