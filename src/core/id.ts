import { RepriseError } from './error.ts';
import { limits } from './limits.ts';
import { utf8Length } from './utf8.ts';

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
