/** Replaces the part of `node:crypto` that formats of saved runs use, where there is none. */
import { sha256 } from '../page/sha256.ts';

/** Returns a hash of text. The only one that is asked for is SHA-256, in hexadecimal. */
export function createHash(_name: 'sha256'): {
  update: (text: string) => { digest: (encoding: 'hex') => string };
} {
  return { update: (text) => ({ digest: () => sha256(text) }) };
}
