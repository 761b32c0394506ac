import { limits } from '../../../core/limits.ts';
import type { PartInput } from '../../../core/parts/parts.ts';
import type { Digest } from '../../../core/point.ts';
import type { PartsPage, PartsRequest } from '../../../core/store/event-store.ts';
import { utf8Length } from '../../../core/utf8.ts';
import type { HeldSession } from '../shelf.ts';

/** Returns a page of the parts of these digests that the session has and, by default, of all they refer to. */
export function partsPage(
  session: HeldSession,
  digests: readonly Digest[],
  { depth = 'all' }: PartsRequest,
): PartsPage {
  const parts = new Map<Digest, PartInput>();
  // Iterating over a set visits what is added on the way, too.
  const open = new Set(digests.filter((digest) => session.parts.has(digest)));
  let bytes = 0;
  for (const digest of open) {
    const part = session.parts.get(digest) as PartInput;
    bytes += utf8Length(part.text);
    const isFull = parts.size >= limits.partsPageMax || bytes > limits.pageBytesMax;
    if (isFull && parts.size > 0) break;
    parts.set(digest, part);
    if (depth === 'all') for (const ref of part.refs) if (session.parts.has(ref)) open.add(ref);
  }
  return { parts, rest: [...open].slice(parts.size) };
}
