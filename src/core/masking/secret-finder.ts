import type { MaskingOptions } from './masking-options.ts';
import { OwnRules, type RunWithin } from './own-rules.ts';
import { RememberedValues } from './remembered-values.ts';
import { mayHoldSecret } from './secret-hint.ts';
import { TextSecrets } from './text-secrets.ts';

/** Finds the rules by which masking would find something, in one text after the other. */
export interface SecretFinder {
  /** Tells whether bytes may hold a secret; undefined if only {@link rulesIn} can tell. */
  readonly hint: ((bytes: Uint8Array) => boolean) | undefined;
  /** Returns the names of the rules; `mayHold` is the answer of the hint. */
  readonly rulesIn: (text: string, mayHold?: boolean) => readonly string[];
}

/** Makes a finder. It looks at texts as a masker does, and masks nothing. */
export function createSecretFinder(
  options: MaskingOptions,
  { runWithin }: { readonly runWithin?: RunWithin | undefined },
): SecretFinder {
  const own = new OwnRules(options.rules ?? [], runWithin);
  const remembered = new RememberedValues();
  const secrets = new TextSecrets({ own, left: new Set(options.except ?? []), remembered });
  const find = (text: string): readonly string[] => {
    const spans = secrets.spansIn(text, false);
    if (spans.length === 0) return none;
    for (const { secret, rule, isRemembered } of spans) if (isRemembered !== false) remembered.add(secret, rule);
    return [...new Set(spans.map(({ rule }) => rule))];
  };
  const isPlain = !own.hasPatterns && !own.hasFields;
  return {
    hint: isPlain ? mayHoldSecret : undefined,
    rulesIn: (text, mayHold = true) => {
      if (!mayHold && isPlain && !remembered.isIn(text)) return none;
      return own.within(
        () => find(text),
        () => undefined,
      );
    },
  };
}

const none: readonly string[] = [];
