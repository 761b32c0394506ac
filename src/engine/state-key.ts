import { RepriseError } from '../core/error.ts';
import { checkId } from '../core/id.ts';
import { ownedKey } from '../core/keys.ts';
import { checkBytes } from '../core/limits.ts';

/** The agent whose state it is when nobody is named. */
export const defaultAgent = 'default';

/** A key of an agent, as the key index has it; also what every key with a prefix begins with there. */
export function stateKey(agent: string, key: string): string {
  return ownedKey('state', agent, key);
}

/** Gives the key (or prefix) back, or says what is wrong with it. */
export function checkKey(key: unknown): string {
  if (typeof key !== 'string' || !key.isWellFormed()) {
    const why = typeof key === 'string' ? 'it holds half of a surrogate pair' : `it is a ${typeof key}, not a string`;
    throw new RepriseError('key.invalid', `Cannot use ${JSON.stringify(key) ?? String(key)} as a state key: ${why}`, {
      hint: 'Any well-formed string is a key; other things have to be written as one.',
    });
  }
  checkBytes('stateKeyBytesMax', [key], 'use a state key');
  return key;
}

/** Gives the agent back, or throws `id.invalid`. */
export function checkAgent(agent: unknown): string {
  return checkId('agent', agent);
}
