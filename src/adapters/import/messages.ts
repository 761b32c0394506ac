import type { EventDraft } from '../../core/event/event.ts';
import {
  arrayAt,
  given,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  objectAt,
  stringAt,
} from '../../core/json.ts';
import {
  defineFormat,
  type ForeignFormat,
  type ForeignWriter,
  type UnitMeaning,
  type WriterSource,
} from '../../core/recording/foreign-format.ts';
import { neutralContent } from './pieces/anthropic-blocks.ts';
import { firstLines, hasDocuments, holds, readJson } from './pieces/first-lines.ts';
import { listFrame } from './pieces/list-frame.ts';
import { said, Talk, toolCallPart } from './pieces/talk.ts';
import { WrittenTalk } from './pieces/written-talk.ts';

/** The names under which a file has its list of messages. */
const lists = ['messages', 'history', 'conversation', 'traj', ''];

/**
 * Plain lists of messages: `[{ role, content }]`, `{ messages: [...] }`, or a message a line, with tool calls in the form
 * of OpenAI or Anthropic.
 */
export const messages: ForeignFormat = defineFormat({
  name: 'messages',
  about: 'plain lists of messages: [{ role, content }]',
  detect: ({ text }) => {
    if (isMessage(firstLines(text)[0])) return true;
    return (
      /^\s*(?:\[|\{[^]*"(?:messages|history|conversation|traj)"\s*:\s*\[)/.test(text) &&
      /"role"\s*:/.test(text) &&
      /"content"\s*:/.test(text) &&
      holds(text, isList)
    );
  },
  cut: ({ text }) => {
    const [first] = firstLines(text.split('\n', 1)[0] ?? '');
    if (isMessage(first)) return { kind: 'lines' };
    return hasDocuments(text, isList) ? { kind: 'sources' } : { kind: 'elements', of: lists };
  },
  open: ({ document }) => {
    const reader = new MessagesReader();
    return {
      session: stringAt(document, 'session_id') ?? stringAt(document, 'question_ID') ?? stringAt(document, 'id'),
      unit: ({ value, at }) => (isMessage(value) ? reader.message(value, at) : undefined),
      end: () => ({ warnings: reader.talk.unanswered }),
    };
  },
  write: messagesWriter,
});

function messagesWriter(source: WriterSource): ForeignWriter {
  const talk = new WrittenTalk(source);
  return {
    event: (event) =>
      talk
        .of(event)
        .map((item) =>
          JSON.stringify(
            item.kind === 'message' ? item.message : { role: 'tool', tool_call_id: item.call, content: item.output },
          ),
        ),
    frame: () => {
      const whole = `${JSON.stringify({ session_id: source.session, messages: [] }, null, 2)}\n`;
      return listFrame(whole, whole.lastIndexOf('[]'));
    },
  };
}

function isMessage(value: JsonValue | undefined): value is JsonObject {
  return (
    isObject(value) &&
    typeof value['role'] === 'string' &&
    Object.hasOwn(value, 'content') &&
    value['uuid'] === undefined
  );
}

/** Returns true if a document is a separate list of messages. */
function isList(value: JsonValue): boolean {
  return isArray(value) ? value.some(isMessage) : lists.some((name) => arrayAt(value, name)?.some(isMessage) === true);
}

/** Reads messages one after the other. */
export class MessagesReader {
  readonly talk: Talk = new Talk('assistant', undefined);

  message(message: JsonObject, at: number): UnitMeaning {
    const role = String(message['role']);
    const drafts = this.talk.of(this.#drafts(role, message, at));
    const isPrompt = role === 'user' || role === 'human';
    return { type: role, drafts, ...(isPrompt ? { begins: { kind: 'prompt', id: `${at}` } } : {}) };
  }

  #drafts(role: string, message: JsonObject, at: number): EventDraft[] {
    const content = neutralContent(message['content'] ?? '');
    switch (role.toLowerCase()) {
      case 'system':
      case 'developer':
        return [said('system', content)];
      case 'user':
      case 'human':
        return [...this.#results(message), ...this.#spoken('user', content)];
      case 'tool':
      case 'function': {
        const [listed] = arrayAt(message, 'tool_call_ids') ?? [];
        const named = stringAt(message, 'tool_call_id') ?? (typeof listed === 'string' ? listed : undefined);
        const call = named ?? stringAt(message, 'name') ?? `tool-${at}`;
        return this.talk.toolEnded(call, { output: message['content'] ?? null, name: stringAt(message, 'name') });
      }
      default:
        return this.#answer(content, message, role);
    }
  }

  #spoken(role: 'user' | 'assistant', content: string | JsonObject[]): EventDraft[] {
    const plain = typeof content === 'string' ? content : content.filter((part) => part['type'] !== 'tool_result');
    return plain.length === 0 ? [] : [said(role, plain)];
  }

  /** Returns the results of tools in the blocks of a user message, which is where Anthropic has them. */
  #results(message: JsonObject): EventDraft[] {
    return (arrayAt(message, 'content') ?? []).flatMap((block) => {
      if (!isObject(block) || block['type'] !== 'tool_result') return [];
      const isError = block['is_error'] === true;
      return this.talk.toolEnded(stringAt(block, 'tool_use_id') ?? '', { output: block['content'] ?? null, isError });
    });
  }

  #answer(content: string | JsonObject[], message: JsonObject, role: string): EventDraft[] {
    const asked = (arrayAt(message, 'tool_calls') ?? []).flatMap((call) => {
      const made = objectAt(call, 'function') ?? (isObject(call) ? call : {});
      const text = made['arguments'];
      const input = (typeof text === 'string' ? readJson(text) : text) ?? text ?? {};
      return [toolCallPart(stringAt(call, 'id') ?? '', stringAt(made, 'name') ?? 'unknown', input)];
    });
    const spoken = typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : content;
    const parts: JsonObject[] = [...spoken, ...asked];
    const calls = parts.filter((part) => part['type'] === 'tool-call');
    const whole = asked.length === 0 ? content : parts;
    if (isArray(whole) && whole.length === 0) return [];
    // In a talk of several agents, the role or the name says who spoke.
    const name = stringAt(message, 'name') ?? (role === 'assistant' ? undefined : role);
    return [
      { type: 'message.added', data: { message: { role: 'assistant', content: whole, ...given({ name }) } } },
      ...calls.map((part) =>
        this.talk.toolStarted(String(part['toolCallId']), String(part['toolName']), part['input'] ?? {}),
      ),
    ];
  }
}
