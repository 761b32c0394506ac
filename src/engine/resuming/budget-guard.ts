import type { Budget } from '../../core/comparing/variants.ts';
import { RepriseError } from '../../core/error.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { CallGuard, NamedCall } from '../../core/recording/call-guard.ts';
import type { CallEnd, Usage } from '../../core/recording/recorder.ts';
import { createSpending, type Spending, spend } from '../../core/recording/spending.ts';

const budgetKeys: KnownKeys = optionKeys<Budget>(
  'keep to the budget',
  { modelCalls: 'number', tokens: 'number', costUsd: 'number' },
  'a budget',
);

/** Throws if a budget is not valid: a misspelled field would mean no limit. */
export function checkBudget(budget: Budget | undefined): void {
  if (budget === undefined) return;
  checkKeys(budget, budgetKeys);
  for (const [name, most] of Object.entries(budget))
    if (most !== undefined && !(typeof most === 'number' && most >= 0))
      throw new RepriseError('option.invalid', `Cannot use a budget of ${String(most)} ${name}`, {
        hint: 'Use a number from 0, or leave it out for no limit.',
        details: { option: `budget.${name}` },
      });
}

/** A budget, and what was taken from it. Several runs may share one. */
export class BudgetAccount {
  readonly budget: Budget;
  readonly spending: Spending = createSpending();
  /** The number of model calls. */
  modelCalls = 0;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  get tokens(): number {
    return this.spending.inputTokens + this.spending.outputTokens;
  }

  /** Says why the next model call is not within the budget; undefined if it is. */
  why(model: string): { readonly text: string; readonly hint?: string } | undefined {
    const { modelCalls, tokens, costUsd } = this.budget;
    const { cost, unpricedCalls } = this.spending;
    if (modelCalls !== undefined && this.modelCalls >= modelCalls)
      return { text: `${this.modelCalls} of ${modelCalls} model calls are used up` };
    if (tokens !== undefined && this.tokens >= tokens)
      return { text: `${this.tokens} of ${tokens} tokens are used up` };
    if (costUsd === undefined) return undefined;
    if ((cost ?? 0) >= costUsd) return { text: `${cost ?? 0} of ${costUsd} dollars are used up` };
    if (unpricedCalls === 0) return undefined;
    return {
      text: `the price of a call is unknown, so a budget of ${costUsd} dollars cannot be checked`,
      hint: `Add a price for "${model}", or set a budget in tokens.`,
    };
  }
}

/** Counts model calls, tokens and cost, and stops the run at the first model call beyond its budget or a shared one. */
export class BudgetGuard implements CallGuard {
  readonly #own: BudgetAccount;
  readonly #accounts: readonly BudgetAccount[];
  readonly #onExceeded: (error: RepriseError) => void;
  /** The error that stopped the run; undefined while it is within its budget. */
  exceeded: RepriseError | undefined;

  constructor(budget: Budget, onExceeded: (error: RepriseError) => void, shared?: BudgetAccount) {
    this.#own = new BudgetAccount(budget);
    this.#accounts = shared === undefined ? [this.#own] : [this.#own, shared];
    this.#onExceeded = onExceeded;
  }

  get spending(): Spending {
    return this.#own.spending;
  }

  /** The number of model calls. */
  get modelCalls(): number {
    return this.#own.modelCalls;
  }

  /** Lets a model call pass, or throws `budget.exceeded`; `experiment.over-budget` if the shared one is used up. */
  before({ kind, name }: NamedCall): undefined {
    if (kind !== 'model') return;
    for (const account of this.#accounts) this.#check(account, name);
    for (const account of this.#accounts) account.modelCalls++;
  }

  #check(account: BudgetAccount, name: string): void {
    const why = account.why(name);
    if (why === undefined) return;
    const isOwn = account === this.#own;
    const more = isOwn ? 'Resume the branch' : 'Continue the experiment';
    this.exceeded ??= new RepriseError(
      isOwn ? 'budget.exceeded' : 'experiment.over-budget',
      `Cannot call "${name}": ${why.text}`,
      {
        hint: why.hint ?? `${more} with a larger budget; it continues where it stopped.`,
        details: { budget: { ...account.budget }, modelCalls: account.modelCalls, tokens: account.tokens },
      },
    );
    this.#onExceeded(this.exceeded);
    throw this.exceeded;
  }

  /** Counts the tokens and the cost of a call. */
  ended({ kind }: NamedCall, { usage, cost }: CallEnd): void {
    const told = { kind, ...(usage === undefined ? {} : { usage: usageIn(usage) }), ...given({ cost }) };
    for (const { spending } of this.#accounts) spend(spending, told);
  }

  /** Takes back a model call that is not made after all. */
  withdrawn({ kind }: NamedCall): void {
    if (kind === 'model') for (const account of this.#accounts) account.modelCalls--;
  }
}

const usageIn = ({ inputTokens, outputTokens, totalTokens }: Usage): JsonObject => ({
  ...given({ inputTokens }),
  // Some providers give only the total; the budget still limits them.
  outputTokens: outputTokens ?? (totalTokens === undefined ? 0 : Math.max(0, totalTokens - (inputTokens ?? 0))),
});
