import type { MaskingOptions } from './masking-options.ts';
import { OwnRules, type RunWithin } from './own-rules.ts';
import { RememberedValues } from './remembered-values.ts';
import { TextSecrets } from './text-secrets.ts';

/** Finds the rules by which masking would find something, in one text after the other. */
export interface SecretFinder {
  /** Returns the names of the rules; `mayHold` is false if the bytes of the text hint that it has none. */
  readonly rulesIn: (text: string, mayHold?: boolean) => readonly string[];
}

/** Makes a finder. It looks at strings as a masker does, and masks nothing. */
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
