import { canonicalJson } from '../../core/canonical-json.ts';
import { createAligner, tokensOf } from '../../core/comparing/diff-align.ts';
import { type JsonObject, type JsonValue, objectAt, stringAt } from '../../core/json.ts';
import type { Seq } from '../../core/point.ts';
import type { ConversationMessage } from '../../core/session/conversation-lane.ts';

/** How a message, a tool or a setting relates to what it is compared with. */
export type ContextMark = 'same' | 'new' | 'edited' | 'erased' | 'dropped';

/** One message that a model was sent. */
export interface ContextMessage {
  /** Its place in the request; of a dropped one, in the request before. */
  readonly index: number;
  /** The event that made it. */
  readonly seq: Seq;
  readonly role: string;
  readonly mark: ContextMark;
  /** Its length as JSON text, in characters. */
  readonly size: number;
  /** Null if it was erased. */
  readonly message: JsonObject | null;
  /** The message in its place before, if it was edited. */
  readonly was?: JsonObject;
}

/** One tool that a model was offered. */
export interface ContextTool {
  readonly name: string;
  readonly mark: ContextMark;
  readonly size: number;
  readonly definition: JsonValue;
  /** The definition before, if it was edited. */
  readonly was?: JsonValue;
}

const textOf = (message: JsonValue | undefined): string => (message === undefined ? '' : canonicalJson(message));

/**
 * Marks messages by what they are compared with. Lists are compared as they were stored, item by item, so that "new" is
 * a fact: an item is new if no item of the other list, in order, is the same.
 */
export function markMessages(
  messages: readonly ConversationMessage[],
  others: readonly ConversationMessage[],
): { readonly messages: ContextMessage[]; readonly dropped: ContextMessage[] } {
  const [left, right] = [others.map(({ message }) => textOf(message)), messages.map(({ message }) => textOf(message))];
  const matches = alignTexts(left, right);
  const partner = new Map<number, number>();
  for (const [index, match] of matches.entries()) if (match >= 0) partner.set(match, index);
  const replaced = replacements(messages, others, matches);
  const shown = messages.map(({ seq, message }, index): ContextMessage => {
    const was = replaced.get(index);
    const before = was === undefined ? undefined : others[was]?.message;
    const mark = markOf({
      isErased: message === undefined,
      isSame: partner.has(index),
      isEdited: before !== undefined,
    });
    const about = {
      index,
      seq,
      role: roleOf(message),
      mark,
      size: right[index]?.length ?? 0,
      message: message ?? null,
    };
    return before === undefined || mark !== 'edited' ? about : { ...about, was: before };
  });
  const kept = new Set(replaced.values());
  const dropped = others.flatMap(({ seq, message }, index): ContextMessage[] => {
    if ((matches[index] ?? -1) >= 0 || kept.has(index)) return [];
    const size = left[index]?.length ?? 0;
    return [{ index, seq, role: roleOf(message), mark: 'dropped', size, message: message ?? null }];
  });
  return { messages: shown, dropped };
}

interface MessageFacts {
  readonly isErased: boolean;
  readonly isSame: boolean;
  readonly isEdited: boolean;
}

function markOf({ isErased, isSame, isEdited }: MessageFacts): ContextMark {
  if (isErased) return 'erased';
  if (isSame) return 'same';
  return isEdited ? 'edited' : 'new';
}

const roleOf = (message: JsonObject | undefined): string => stringAt(message, 'role') ?? '?';

/** Returns, for every text on the left, the index of the same text on the right, or -1. */
function alignTexts(left: readonly string[], right: readonly string[]): Int32Array {
  const matches = new Int32Array(left.length).fill(-1);
  let start = 0;
  while (start < Math.min(left.length, right.length) && left[start] === right[start]) matches[start] = start++;
  if (start === left.length || start === right.length) return matches;
  const [a, b] = [left.slice(start), right.slice(start)];
  const found = new Int32Array(a.length).fill(-1);
  createAligner(tokensOf(a, b, (text) => text))({ left: [0, a.length], right: [0, b.length] }, found);
  for (const [index, match] of found.entries()) if (match >= 0) matches[start + index] = start + match;
  return matches;
}

/**
 * Pairs messages that take the place of others: in a gap between equal ones, those of the same role, in order. Where
 * the other list ends, everything that follows is new.
 */
function replacements(
  messages: readonly ConversationMessage[],
  others: readonly ConversationMessage[],
  matches: Int32Array,
): ReadonlyMap<number, number> {
  const pairs = new Map<number, number>();
  let [from, next] = [0, 0];
  for (let index = 0; index <= others.length; index++) {
    const match = index === others.length ? messages.length : (matches[index] ?? -1);
    if (match < 0) continue;
    let at = next;
    for (let other = from; other < index && at < match; other++) {
      if (roleOf(messages[at]?.message) !== roleOf(others[other]?.message)) continue;
      pairs.set(at++, other);
    }
    from = index + 1;
    next = match + 1;
  }
  return pairs;
}

/** Marks tools by those of the same names that they are compared with; tools that are gone come last. */
export function markTools(tools: readonly JsonValue[], others: readonly JsonValue[]): ContextTool[] {
  const before = new Map(others.map((tool, index) => [toolName(tool, index), tool]));
  const marked = tools.map((definition, index): ContextTool => {
    const name = toolName(definition, index);
    const was = before.get(name);
    before.delete(name);
    const size = canonicalJson(definition).length;
    if (was === undefined) return { name, mark: 'new', size, definition };
    return canonicalJson(was) === canonicalJson(definition)
      ? { name, mark: 'same', size, definition }
      : { name, mark: 'edited', size, definition, was };
  });
  const gone = [...before].map(([name, definition]): ContextTool => ({ name, mark: 'dropped', size: 0, definition }));
  return [...marked, ...gone];
}

function toolName(tool: JsonValue, index: number): string {
  return stringAt(tool, 'name') ?? stringAt(objectAt(tool, 'function'), 'name') ?? `tool ${index + 1}`;
}
