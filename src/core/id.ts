import { RepriseError } from './error.ts';
import { limits } from './limits.ts';

/** What an id names; used in messages. */
export type IdKind = 'session' | 'branch' | 'namespace' | 'agent' | 'run' | 'event' | 'call' | 'projection';

const reserved: ReadonlySet<string> = new Set(['latest', 'head', 'list']);
// Control characters would forge lines in logs and terminals, and separate the parts of an indexed key.
const controls = /[\u0000-\u001f\u007f-\u009f]/;

/** Gives the id back, or throws `id.invalid`. */
export function checkId(kind: IdKind, id: unknown): string {
  if (typeof id !== 'string') return refuse(kind, String(id), `it is a ${typeof id}, not a string`);
  if (id === '') return refuse(kind, id, 'it is empty');
  if (!id.isWellFormed()) return refuse(kind, id, 'it holds half of a surrogate pair');
  if (controls.test(id)) return refuse(kind, id, 'it holds a control character');
  if (id.length > limits.idBytesMax || utf8Length(id) > limits.idBytesMax) {
    return refuse(kind, `${id.slice(0, 40)}…`, `it is longer than ${limits.idBytesMax} bytes`);
  }
  if ((kind === 'session' || kind === 'branch') && reserved.has(id)) return refuse(kind, id, 'that word is reserved');
  return id;
}

function refuse(kind: IdKind, id: string, why: string): never {
  throw new RepriseError('id.invalid', `Cannot use ${JSON.stringify(id)} as a ${kind} id: ${why}`, {
    hint: `Use 1 to ${limits.idBytesMax} bytes without control characters; "latest", "head" and "list" are taken.`,
    details: { kind },
  });
}

/** The number of bytes of a string in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code >= 0xd800 && code < 0xdc00) {
      bytes += 4;
      index++;
    } else bytes += 3;
  }
  return bytes;
}

/** Orders two strings by their UTF-8 bytes, which is the order of code points, not of UTF-16 units. */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return utf16Rank(a) - utf16Rank(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above U+FFFF, so they sort after every other unit. */
function utf16Rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
