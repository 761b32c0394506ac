import { compareUtf8 } from '../utf8.ts';

/** A question to the key index: exact keys, or every key with a prefix. */
export type KeySelector = { readonly keys: readonly string[] } | { readonly prefix: string };

/** The kinds of things events are indexed under. */
export type KeyKind = 'state' | 'topic' | 'call' | 'file' | 'task' | 'agent' | 'metadata' | 'edit' | 'strategy';

// U+0001 ends the kind and the owner. Ids have no control characters, so nothing can forge it. The name may contain
// anything: U+0000 and U+0001 are escaped, so that no store sees a NUL and byte order is kept.
const end = '\u0001';
const escape = (text: string): string =>
  text.replace(/[\u0000\u0001]/g, (c) => (c === '\u0000' ? '\u0001\u0001' : '\u0001\u0002'));
const unescape = (text: string): string =>
  text.replace(/\u0001([\u0001\u0002])/g, (_, c) => (c === '\u0001' ? '\u0000' : '\u0001'));

/**
 * Returns the index key of something an owner has: a state key of an agent.
 *
 * @example
 * ```ts
 * const unchanged = { since: 7, keys: [ownedKey('state', 'support', 'plan')] };
 * await session.append({ type: 'note.added', data: { text: 'The plan still stands.' } }, { unchanged });
 * ```
 */
export function ownedKey(kind: KeyKind, owner: string, name: string): string {
  return `${kind}${end}${owner}${end}${escape(name)}`;
}

/**
 * Returns the index key of something without an owner: a topic, a call, a file.
 *
 * @example
 * ```ts
 * const unchanged = { since: 7, keys: [plainKey('topic', 'refunds')] };
 * await session.append({ type: 'belief.committed', data: { claim: 'It is ours', topic: 'refunds' } }, { unchanged });
 * ```
 */
export function plainKey(kind: KeyKind, name: string): string {
  return `${kind}${end}${end}${escape(name)}`;
}

/** Takes an index key apart. */
export function parseKey(key: string): { readonly kind: string; readonly owner: string; readonly name: string } {
  const first = key.indexOf(end);
  const second = key.indexOf(end, first + 1);
  return {
    kind: key.slice(0, first),
    owner: key.slice(first + 1, second),
    name: unescape(key.slice(second + 1)),
  };
}

/** Returns keys in the order of every store: by UTF-8 bytes. */
export function sortKeys(keys: Iterable<string>): string[] {
  return [...keys].sort(compareUtf8);
}

/** Returns the least text that sorts after every text with a prefix, by UTF-8 bytes; undefined if there is none. */
export function prefixEnd(prefix: string): string | undefined {
  const points = [...prefix];
  for (let last = points.pop()?.codePointAt(0); last !== undefined; last = points.pop()?.codePointAt(0)) {
    // Surrogates are not code points, so U+E000 follows U+D7FF.
    if (last < 0x10ffff) return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}
