import { isObject, type JsonValue } from '../../../src/core/json.ts';
import type { Edit } from '../../../src/core/view/edit.ts';
import { short } from '../../../src/wording/event-gist.ts';
import { messageContent } from '../../../src/wording/message-content.ts';

/** A fork that is being prepared. It survives a reload. */
export interface Draft {
  readonly edits: readonly Edit[];
  readonly name: string;
  readonly reason: string;
  readonly agent: string;
  readonly modelCalls: string;
  readonly costUsd: string;
  readonly minutes: string;
  readonly effects: string;
  /** Tools that simulations answer. */
  readonly simulate: readonly string[];
  readonly repeats: string;
  /** Edits that were set aside: an experiment runs them in addition to those that are being made. */
  readonly variants: readonly { readonly name: string; readonly edits: readonly Edit[] }[];
  /** A text that the answer of a branch of an experiment must contain to pass. */
  readonly expects: string;
}

/** Returns a draft with nothing in it. */
export const emptyDraft: Draft = {
  edits: [],
  name: '',
  reason: '',
  agent: '',
  modelCalls: '20',
  costUsd: '1',
  minutes: '10',
  effects: '',
  simulate: [],
  repeats: '5',
  variants: [],
  expects: '',
};

/** The variant of an experiment that is not edited. */
const original = 'as-it-was';

/** Returns a name that no variant has yet. */
function freeName({ variants }: Pick<Draft, 'variants'>, wanted: string): string {
  const taken = new Set([original, ...variants.map(({ name }) => name)]);
  const first = wanted === '' ? 'edited' : wanted;
  let name = first;
  for (let number = 2; taken.has(name); number++) name = `${first}-${number}`;
  return name;
}

/** Returns the variants of an experiment: the original, those that were set aside, and the edits that are being made. */
export function variantsOf(
  draft: Pick<Draft, 'variants' | 'name' | 'edits'>,
): readonly { readonly name: string; readonly edits?: readonly Edit[] }[] {
  const { variants, name, edits } = draft;
  const own = edits.length === 0 ? [] : [{ name: freeName(draft, name), edits }];
  return [{ name: original }, ...variants, ...own];
}

/** Sets the edits aside as a variant, so that different ones can be made. */
export function setAside(draft: Draft): Draft {
  const { variants, name, edits } = draft;
  return { ...draft, variants: [...variants, { name: freeName(draft, name), edits }], edits: [], name: '' };
}

const keyOf = (ref: string): string => `reprise.draft ${ref}`;

/** Reads the draft of a point that was kept. */
export function keptDraft(ref: string): Draft {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(ref)) ?? 'null');
    return typeof kept === 'object' && kept !== null ? { ...emptyDraft, ...kept } : emptyDraft;
  } catch {
    return emptyDraft;
  }
}

/** Keeps the draft of a point, until it is made or taken back. */
export function keepDraft(ref: string, draft: Draft): void {
  try {
    if (draft === emptyDraft) sessionStorage.removeItem(keyOf(ref));
    else sessionStorage.setItem(keyOf(ref), JSON.stringify(draft));
  } catch {
    // A browser without storage forgets drafts with the page.
  }
}

/** Says what an edit changes, in a line. */
export function editText(edit: Edit): { readonly what: string; readonly value: string } {
  switch (edit.kind) {
    case 'prompt':
      return { what: 'prompt', value: edit.text };
    case 'system':
      return { what: 'system', value: edit.text };
    case 'model':
      return { what: 'model', value: edit.model };
    case 'tools':
      return {
        what: 'tools',
        value: edit.tools.map((tool) => (isObject(tool) ? String(tool['name'] ?? '?') : '?')).join(', '),
      };
    case 'message':
      return { what: `message @${edit.seq}`, value: messageContent(edit.message) };
    case 'toolInput':
      return { what: `arguments of the call at @${edit.call}`, value: short(edit.input) };
    case 'toolResult':
      return { what: `result of the call at @${edit.call}`, value: short(edit.output) };
    case 'state':
      return {
        what: `state ${edit.agent === undefined ? '' : `${edit.agent} `}${edit.key}`,
        value: edit.value === undefined ? 'deleted' : short(edit.value),
      };
    case 'belief':
      return { what: 'belief', value: short(edit.belief) };
    case 'drop':
      return { what: `without @${edit.seq}`, value: edit.cascade === true ? 'and everything that depends on it' : '' };
    case 'replace':
      return { what: `instead of @${edit.seq}`, value: edit.event.type ?? '' };
    case 'insert':
      return { what: `after @${edit.after}`, value: edit.event.type };
    case 'append':
      return { what: 'in the end', value: edit.event.type };
  }
}

/** The content of an edit as text to change: plain for words, JSON for values. */
export function editContent(edit: Edit): { readonly text: string; readonly isJson: boolean } {
  const json = (value: JsonValue | undefined): { text: string; isJson: boolean } => ({
    text: JSON.stringify(value ?? null, null, 2),
    isJson: true,
  });
  switch (edit.kind) {
    case 'prompt':
    case 'system':
      return { text: edit.text, isJson: false };
    case 'model':
      return { text: edit.model, isJson: false };
    case 'tools':
      return json([...edit.tools]);
    case 'message':
      return typeof edit.message['content'] === 'string'
        ? { text: edit.message['content'], isJson: false }
        : json(edit.message);
    case 'toolInput':
      return json(edit.input);
    case 'toolResult':
      return json(edit.output);
    case 'state':
      return json(edit.value);
    case 'belief':
      return json(edit.belief);
    default:
      return { text: '', isJson: false };
  }
}

/** Returns an edit with a different content; throws if the text is not the JSON that it needs. */
export function withContent(edit: Edit, text: string): Edit {
  const { isJson } = editContent(edit);
  const value: unknown = isJson ? JSON.parse(text) : text;
  switch (edit.kind) {
    case 'prompt':
    case 'system':
      return { ...edit, text };
    case 'model':
      return { ...edit, model: text };
    case 'tools':
      return { ...edit, tools: Array.isArray(value) ? value : fail('a list of tools, [ … ]') };
    case 'message':
      if (!isJson) return { ...edit, message: { ...edit.message, content: text } };
      return { ...edit, message: isObject(value) ? value : fail('a message, { "role": …, "content": … }') };
    case 'toolInput':
      return { ...edit, input: value as JsonValue };
    case 'toolResult':
      return { ...edit, output: value as JsonValue };
    case 'state':
      return { ...edit, value: value as JsonValue };
    case 'belief':
      return { ...edit, belief: isObject(value) ? value : fail('a belief, { "topic": …, "claim": … }') };
    default:
      return edit;
  }
}

function fail(wanted: string): never {
  throw new SyntaxError(`It has to be ${wanted}`);
}
