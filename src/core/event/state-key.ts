import { canonicalJson } from '../canonical-json.ts';
import { RepriseError } from '../error.ts';
import { checkId } from '../id.ts';
import { shownValue } from '../known-keys.ts';
import { checkBytes } from '../limits.ts';
import { ownedKey } from './keys.ts';

/** The agent that state belongs to if none is named. */
export const defaultAgent = 'default';

/** Returns the index key of an agent's key; of a prefix, the beginning of every index key with that prefix. */
export function stateKey(agent: string, key: string): string {
  return ownedKey('state', agent, key);
}

/** Returns the key (or prefix), or throws `key.invalid`. */
export function checkKey(key: unknown): string {
  if (typeof key !== 'string' || !key.isWellFormed()) {
    const why = typeof key === 'string' ? 'it has half of a surrogate pair' : 'it is not a string';
    throw new RepriseError('key.invalid', `Cannot use ${shownValue(key)} as a state key: ${why}`, {
      hint: 'Pass a well-formed string.',
    });
  }
  checkBytes('stateKeyBytesMax', [key], 'use a state key');
  return key;
}

/** Returns the value as canonical JSON; refuses an agent, key or value that can never be written. */
export function checkWrite({ agent, key }: { readonly agent: string; readonly key: string }, value: unknown): string {
  checkAgent(agent);
  checkKey(key);
  const text = canonicalJson(value);
  checkBytes('stateValueBytesMax', [text], `write ${JSON.stringify(key)}`);
  return text;
}

/** Returns the agent, or throws `id.invalid`. */
export function checkAgent(agent: unknown): string {
  return checkId('agent', agent);
}
