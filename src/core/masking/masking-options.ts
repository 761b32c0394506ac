import { RepriseError } from '../error.ts';
import { isObject } from '../json.ts';
import { propertiesOf } from '../property.ts';
import { checkRule, type MaskRule } from './own-rules.ts';

/** Options of masking. */
export interface MaskingOptions {
  /** Additional rules; they go before the built-in ones. */
  readonly rules?: readonly MaskRule[];
  /** The names of built-in rules to leave out. */
  readonly except?: readonly string[];
}

/** The names of the built-in rules. */
export const builtInRules: readonly string[] = [
  'secret-field',
  'command-password',
  'private-key',
  'bearer-token',
  'anthropic-key',
  'openai-key',
  'stripe-key',
  'github-token',
  'gitlab-token',
  'slack-token',
  'aws-key',
  'google-key',
  'hugging-face-token',
  'npm-token',
  'jwt',
  'url-password',
  'high-entropy',
];

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
