import { RepriseError } from '../error.ts';
import type { EventDraft } from '../event/event.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { isObject } from '../json.ts';
import { checkKeys, type KnownKeys, shownValue } from '../known-keys.ts';

/** The fields of an event that replace those of an earlier one; fields left out stay as they were. */
export type Replacement = Partial<Omit<EventDraft, 'id'>>;

/**
 * One change to a history. `replace`, `insert`, `drop` and `append` change events; the other kinds name what people
 * change, and become those four. A call is named by its id, or by the seq of its start or end.
 */
export type Edit =
  | { readonly kind: 'replace'; readonly seq: number; readonly event: Replacement }
  | { readonly kind: 'insert'; readonly after: number; readonly event: EventDraft }
  | { readonly kind: 'drop'; readonly seq: number; readonly cascade?: boolean }
  | { readonly kind: 'append'; readonly event: EventDraft }
  /** Replaces the last user message, wherever it is; with `trailing`, only if it is the last message. */
  | { readonly kind: 'prompt'; readonly text: string; readonly mode?: 'anywhere' | 'trailing' }
  /** Changes a setting of the agent it names; without an agent, of the one that continues. */
  | { readonly kind: 'system'; readonly text: string; readonly agent?: string }
  | { readonly kind: 'model'; readonly model: string; readonly agent?: string }
  | { readonly kind: 'tools'; readonly tools: readonly JsonValue[]; readonly agent?: string }
  | { readonly kind: 'toolInput'; readonly call: string | number; readonly input: JsonValue }
  | {
      readonly kind: 'toolResult';
      readonly call: string | number;
      readonly output: JsonValue;
      readonly outcome?: string;
    }
  | { readonly kind: 'message'; readonly seq: number; readonly message: JsonObject }
  /** Writes a state key; without a value the key is deleted. */
  | { readonly kind: 'state'; readonly key: string; readonly agent?: string; readonly value?: JsonValue }
  /** Commits a belief, or with a seq replaces one. */
  | { readonly kind: 'belief'; readonly seq?: number; readonly agent?: string; readonly belief: JsonObject };

/** The edits people ask for most, as options of `fork` and of a counterfactual look. */
export interface EditOptions {
  readonly prompt?: string;
  readonly system?: string;
  readonly model?: string;
  readonly tools?: readonly JsonValue[];
  /** Any other edits, applied after those above, in order. */
  readonly edits?: readonly Edit[];
}

/** The names of the edits that have their own option. */
export const editOptionNames: Readonly<Record<keyof EditOptions, true>> = {
  prompt: true,
  system: true,
  model: true,
  tools: true,
  edits: true,
};

/** Returns the edits an options object asks for, in the order they are applied. */
export function editsOf(options: EditOptions): Edit[] {
  const edits: Edit[] = [];
  if (options.prompt !== undefined) edits.push({ kind: 'prompt', text: options.prompt });
  if (options.system !== undefined) edits.push({ kind: 'system', text: options.system });
  if (options.model !== undefined) edits.push({ kind: 'model', model: options.model });
  if (options.tools !== undefined) edits.push({ kind: 'tools', tools: options.tools });
  if (options.edits !== undefined && !Array.isArray(options.edits))
    throw new RepriseError('edit.invalid', 'Cannot edit: "edits" is not an array', {
      hint: 'Pass a list, even for one edit: edits: [{ kind: "drop", seq: 4 }].',
    });
  return [...edits, ...(options.edits ?? [])];
}

/** The fields of each kind of edit, apart from its kind. */
const editFields: Readonly<Record<Edit['kind'], readonly string[]>> = {
  replace: ['seq', 'event'],
  insert: ['after', 'event'],
  drop: ['seq', 'cascade'],
  append: ['event'],
  prompt: ['text', 'mode'],
  system: ['text', 'agent'],
  model: ['model', 'agent'],
  tools: ['tools', 'agent'],
  toolInput: ['call', 'input'],
  toolResult: ['call', 'output', 'outcome'],
  message: ['seq', 'message'],
  state: ['key', 'agent', 'value'],
  belief: ['seq', 'agent', 'belief'],
};

/** Refuses a field that no edit of that kind has: a state edit with a misspelt value would delete the key. */
export function checkEditFields(edit: Edit): Edit {
  if (!isObject(edit))
    throw new RepriseError('edit.invalid', `Cannot apply the edit: ${shownValue(edit)} is not an object`, {
      hint: `Write { kind, … }, where kind is one of ${Object.keys(editFields).join(', ')}.`,
    });
  if (typeof edit.kind !== 'string' || !Object.hasOwn(editFields, edit.kind)) return edit;
  const keys = new Set(['kind', ...editFields[edit.kind]]);
  const known: KnownKeys = { keys, code: 'edit.invalid', attempt: 'apply the edit', whole: `a "${edit.kind}" edit` };
  checkKeys(edit, known);
  return edit;
}
