import { RepriseError } from '../error.ts';
import type { EventDraft } from '../event/event.ts';
import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import { propertiesOf } from '../property.ts';
import { type MaskKey, maskOf } from './mask.ts';
import { MaskWalker } from './mask-walker.ts';
import { MaskedTexts } from './masked-texts.ts';
import { checkRule, type MaskRule, OwnRules, type RunWithin } from './own-rules.ts';
import { RememberedValues } from './remembered-values.ts';
import { formRules } from './secret-forms.ts';
import { TextSecrets } from './text-secrets.ts';

/** Options of masking. */
export interface MaskingOptions {
  /** Additional rules; they go before the built-in ones. */
  readonly rules?: readonly MaskRule[];
  /** The names of built-in rules to leave out. */
  readonly except?: readonly string[];
}

/**
 * Returns an event with its secrets masked; `data.masked` lists the rules that applied. `report` hears what could not be
 * searched and was masked whole instead.
 */
export type Masker = (event: EventDraft, report?: (error: Error) => void) => EventDraft;

/** The world of a masker. */
export interface MaskerParts {
  readonly key: MaskKey;
  /** Stops a pattern of a user that takes too long; without it, patterns run without a limit. */
  readonly runWithin?: RunWithin | undefined;
}

/**
 * Makes a masker. A mask is `[masked RULE 5e6f7a-1a2b3c4d]`. The same secret gets the same mask within a session, so
 * that lists of messages still continue each other and equal calls stay equal; the mask does not reveal the secret. A
 * value of 8 or more characters that was masked once is masked in everything after it. Ids of protocols are never masked,
 * because calls are found by their ids, and structural fields keep their form.
 */
export function createMasker(options: MaskingOptions, { key, runWithin }: MaskerParts): Masker {
  const own = new OwnRules(options.rules ?? [], runWithin);
  const left = new Set(options.except ?? []);
  const remembered = new RememberedValues();
  const mask = (rule: string, secret: string): string => maskOf(key, rule, secret);
  const texts = new MaskedTexts(new TextSecrets({ own, left, remembered }), remembered, mask);
  const masker: Masker = (event, report = () => undefined) => {
    const { data } = event;
    if (data === undefined) return event;
    const fired = new Set<string>();
    const walker = new MaskWalker({ own, left, remembered, texts, fired, mask });
    const masked = own.within(() => {
      const { version } = remembered;
      const once = walker.data(data as JsonObject);
      // A copy of a secret may stand before the place that gave it away.
      return remembered.version === version ? once : walker.data(once);
    }, report);
    if (fired.size === 0) return event;
    return { ...event, data: { ...masked, masked: namesIn(masked['masked'], fired) } };
  };
  ownMaskers.add(masker);
  return masker;
}

const ownMaskers = new WeakSet<Masker>();

/** Tells whether a masker was made here: it never changes an event, and returns the same one if it masks nothing. */
export function isOwnMasker(masker: Masker): boolean {
  return ownMaskers.has(masker);
}

function namesIn(before: JsonValue | undefined, fired: ReadonlySet<string>): string[] {
  const earlier = Array.isArray(before) ? before.filter((name) => typeof name === 'string') : [];
  return [...new Set([...earlier, ...fired])].sort();
}

/** Takes a value as masking options, or throws `config.invalid` with the rule. */
export function checkMasking(value: unknown): MaskingOptions {
  if (!isObject(value)) return refuseMasking('it is not an object', 'masking');
  const { rules = [], except = [] } = propertiesOf(value);
  for (const name of Object.keys(value))
    if (name !== 'rules' && name !== 'except') refuseMasking('there is no such field', `masking.${name}`);
  if (!Array.isArray(rules)) return refuseMasking('it is not a list of rules', 'masking.rules');
  rules.forEach(checkRule);
  if (!Array.isArray(except)) return refuseMasking('it is not a list of names', 'masking.except');
  for (const name of except)
    if (!builtInRules.includes(name))
      refuseMasking(`there is no built-in rule ${JSON.stringify(name)}`, 'masking.except');
  return value as MaskingOptions;
}

function refuseMasking(why: string, field: string): never {
  throw new RepriseError('config.invalid', `Cannot use the masking: ${why}`, {
    hint: `Write { rules?, except? }; the built-in rules are ${builtInRules.join(', ')}.`,
    details: { field },
  });
}

/** The names of the built-in rules. */
export const builtInRules: readonly string[] = ['secret-field', 'command-password', ...formRules, 'high-entropy'];
