import { RepriseError } from './error.ts';
import { kindName } from './known-keys.ts';
import { limits } from './limits.ts';
import { utf8Length } from './utf8.ts';

/** The kinds of things that ids name, for messages. */
export type IdKind =
  | 'session'
  | 'branch'
  | 'namespace'
  | 'agent'
  | 'run'
  | 'event'
  | 'call'
  | 'projection'
  | 'key'
  | 'task';

const reserved: ReadonlySet<string> = new Set(['latest', 'head', 'list']);
// Control characters would forge lines in logs and terminals, and separate the parts of an indexed key.
const controls = /[\u0000-\u001f\u007f-\u009f]/;

/** Returns the id, or throws `id.invalid`. */
export function checkId(kind: IdKind, id: unknown): string {
  if (isId(kind, id)) return id;
  const shown = typeof id === 'string' ? id : kindName(id);
  const cut = shown.length > limits.idBytesMax ? `${shown.slice(0, 40)}…` : shown;
  return refuse(kind, cut, faultOf(kind, id) ?? '');
}

/** Returns whether a value can be an id. */
export function isId(kind: IdKind, id: unknown): id is string {
  return faultOf(kind, id) === undefined;
}

function faultOf(kind: IdKind, id: unknown): string | undefined {
  if (typeof id !== 'string') return 'it is not a string';
  if (id === '') return 'it is empty';
  if (!id.isWellFormed()) return 'it has half of a surrogate pair';
  if (controls.test(id)) return 'it has a control character';
  if (id.length > limits.idBytesMax || utf8Length(id) > limits.idBytesMax)
    return `it is longer than ${limits.idBytesMax} bytes`;
  if ((kind === 'session' || kind === 'branch') && reserved.has(id)) return 'that word is reserved';
  return undefined;
}

function refuse(kind: IdKind, id: string, why: string): never {
  const article = /^[ae]/.test(kind) ? 'an' : 'a';
  throw new RepriseError('id.invalid', `Cannot use ${JSON.stringify(id)} as ${article} ${kind} id: ${why}`, {
    hint: `Use 1 to ${limits.idBytesMax} bytes without control characters; "latest", "head" and "list" are taken.`,
    details: { kind },
  });
}
