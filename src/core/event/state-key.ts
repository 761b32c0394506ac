import { canonicalJson } from '../canonical-json.ts';
import { RepriseError } from '../error.ts';
import { checkId } from '../id.ts';
import { checkBytes } from '../limits.ts';
import { ownedKey } from './keys.ts';

/** The agent whose state it is when nobody is named. */
export const defaultAgent = 'default';

/** A key of an agent, as the key index has it; also what every key with a prefix begins with there. */
export function stateKey(agent: string, key: string): string {
  return ownedKey('state', agent, key);
}

/** Gives the key (or prefix) back, or says what is wrong with it. */
export function checkKey(key: unknown): string {
  if (typeof key !== 'string' || !key.isWellFormed()) {
    const shown = typeof key === 'string' ? JSON.stringify(key) : String(key);
    const why = typeof key === 'string' ? 'it holds half of a surrogate pair' : 'it is not a string';
    throw new RepriseError('key.invalid', `Cannot use ${shown.slice(0, 80)} as a state key: ${why}`, {
      hint: 'Any well-formed string is a key; other things have to be written as one.',
    });
  }
  checkBytes('stateKeyBytesMax', [key], 'use a state key');
  return key;
}

/** Refuses what can never be written under a key of an agent; gives the value as canonical JSON. */
export function checkWrite({ agent, key }: { readonly agent: string; readonly key: string }, value: unknown): string {
  checkAgent(agent);
  checkKey(key);
  const text = canonicalJson(value);
  checkBytes('stateValueBytesMax', [text], `write ${JSON.stringify(key)}`);
  return text;
}

/** Gives the agent back, or throws `id.invalid`. */
export function checkAgent(agent: unknown): string {
  return checkId('agent', agent);
}
