import { isStructural } from './families/structural.ts';
import { plainKey } from './keys.ts';

/** The edit that wrote an event, and the place of the event among those of that edit. */
export interface EditPlace {
  readonly edit: string;
  /** Counts from 0. The events of an edit are consecutive, since they are one append. */
  readonly index: number;
}

/** Returns the id of an event that an edit writes. Redo finds the events of an edit by it. */
export function editId({ edit, index }: EditPlace): string {
  return `edit:${edit}:${index}`;
}

/** Reads the edit that wrote an event from the id of the event; undefined if no edit wrote it. */
export function editPlace(id: string): EditPlace | undefined {
  const found = /^edit:([^:]+):(0|[1-9][0-9]{0,5})$/.exec(id);
  return found === null ? undefined : { edit: found[1] as string, index: Number(found[2]) };
}

/** The index key of every ordinary event that an edit wrote; a branch knows its markers without an index. */
export const editedKey: string = plainKey('edit', '');

/** Returns true if an event is an ordinary one that an edit wrote. */
export function isEdited({ id, type }: { readonly id?: string | undefined; readonly type: string }): boolean {
  return id !== undefined && editPlace(id) !== undefined && !isStructural(type);
}
