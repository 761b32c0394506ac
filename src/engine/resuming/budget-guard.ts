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

/** Counts model calls, tokens and cost, and stops the run at the first model call beyond the budget. */
export class BudgetGuard implements CallGuard {
  readonly #budget: Budget;
  readonly #onExceeded: (error: RepriseError) => void;
  readonly spending: Spending = createSpending();
  /** The number of model calls. */
  modelCalls = 0;
  /** The error that stopped the run; undefined while it is within its budget. */
  exceeded: RepriseError | undefined;

  constructor(budget: Budget, onExceeded: (error: RepriseError) => void) {
    this.#budget = budget;
    this.#onExceeded = onExceeded;
  }

  /** Lets a model call pass, or throws `budget.exceeded`. */
  before({ kind, name }: NamedCall): undefined {
    if (kind !== 'model') return;
    const why = this.#why(name);
    if (why === undefined) {
      this.modelCalls++;
      return;
    }
    this.exceeded ??= new RepriseError('budget.exceeded', `Cannot call "${name}": ${why.text}`, {
      hint: why.hint ?? 'Resume the branch with a larger budget; it continues where it stopped.',
      details: { budget: { ...this.#budget }, modelCalls: this.modelCalls, tokens: this.#tokens() },
    });
    this.#onExceeded(this.exceeded);
    throw this.exceeded;
  }

  /** Counts the tokens and the cost of a call. */
  ended({ kind }: NamedCall, { usage, cost }: CallEnd): void {
    spend(this.spending, {
      kind,
      ...(usage === undefined ? {} : { usage: usageIn(usage) }),
      ...given({ cost }),
    });
  }

  /** Takes back a model call that is not made after all. */
  withdrawn({ kind }: NamedCall): void {
    if (kind === 'model') this.modelCalls--;
  }

  #tokens(): number {
    return this.spending.inputTokens + this.spending.outputTokens;
  }

  #why(model: string): { readonly text: string; readonly hint?: string } | undefined {
    const { modelCalls, tokens, costUsd } = this.#budget;
    const { cost, unpricedCalls } = this.spending;
    if (modelCalls !== undefined && this.modelCalls >= modelCalls)
      return { text: `${this.modelCalls} of ${modelCalls} model calls are used up` };
    if (tokens !== undefined && this.#tokens() >= tokens)
      return { text: `${this.#tokens()} of ${tokens} tokens are used up` };
    if (costUsd === undefined) return undefined;
    if ((cost ?? 0) >= costUsd) return { text: `${cost ?? 0} of ${costUsd} dollars are used up` };
    if (unpricedCalls === 0) return undefined;
    return {
      text: `the price of a call is unknown, so a budget of ${costUsd} dollars cannot be checked`,
      hint: `Add a price for "${model}", or set a budget in tokens.`,
    };
  }
}

const usageIn = ({ inputTokens, outputTokens, totalTokens }: Usage): JsonObject => ({
  ...given({ inputTokens }),
  // Some providers give only the total; the budget still holds for them.
  outputTokens: outputTokens ?? (totalTokens === undefined ? 0 : Math.max(0, totalTokens - (inputTokens ?? 0))),
});
