import type { EventDraft } from '../../core/event/event.ts';
import {
  given,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  stringAt,
} from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { piWriter } from './pi/writing.ts';
import { resultOutput } from './pieces/anthropic-blocks.ts';
import { firstLines, firstString, readJson } from './pieces/first-lines.ts';
import { said, Talk, toolCallPart } from './pieces/talk.ts';

/** The sessions of pi: a tree of entries, or lines in order in version 1. */
export const pi: ForeignFormat = defineFormat({
  name: 'pi',
  about: 'sessions of pi (~/.pi/agent/sessions)',
  places: [{ home: '~/.pi/agent', variable: 'PI_CODING_AGENT_DIR', below: 'sessions', ending: '.jsonl' }],
  detect: ({ text }) => headerOf(text) !== undefined,
  cut: () => ({ kind: 'lines' }),
  open: ({ text }) => {
    const header = headerOf(text);
    const session = stringAt(header, 'id');
    const reader = new PiReader(session, header);
    return {
      session,
      startedAt: stringAt(header, 'timestamp'),
      metadata: given({ cwd: stringAt(header, 'cwd'), parentSession: stringAt(header, 'parentSession') }),
      unit: ({ value }) => (isObject(value) ? reader.entry(value) : undefined),
      end: () => ({ warnings: reader.talk.unanswered }),
    };
  },
  write: piWriter,
  resume: (lines, { id, time }) => {
    const held = lines.map((line) => readJson(line));
    const cwd =
      firstString(
        held.filter((line) => line !== undefined),
        'cwd',
      ) ?? '/';
    const text = lines.map((line, index) =>
      isObject(held[index]) && held[index]['type'] === 'session' ? JSON.stringify({ ...held[index], id }) : line,
    );
    const folder = `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`;
    return { path: `${folder}/${time.replace(/[:.]/g, '-')}_${id}.jsonl`, text: `${text.join('\n')}\n` };
  },
});

function headerOf(text: string): JsonObject | undefined {
  const [first] = firstLines(text);
  return isObject(first) &&
    first['type'] === 'session' &&
    typeof first['id'] === 'string' &&
    typeof first['cwd'] === 'string'
    ? first
    : undefined;
}

const plainTypes: ReadonlySet<string> = new Set([
  'session',
  'thinking_level_change',
  'custom',
  'label',
  'session_info',
  'leaf',
]);

class PiReader {
  readonly talk: Talk;
  readonly #header: JsonObject | undefined;
  /** How many messages lead to each entry, by which a compaction tells how many it keeps. */
  readonly #depths = new Map<string, number>();

  constructor(session: string | undefined, header: JsonObject | undefined) {
    this.talk = new Talk('pi', session);
    this.#header = header;
  }

  entry(entry: JsonObject): UnitMeaning | undefined {
    const type = stringAt(entry, 'type');
    if (type === undefined) return undefined;
    const [id, parent] = [stringAt(entry, 'id'), stringAt(entry, 'parentId')];
    const message = objectAt(entry, 'message');
    const role = stringAt(message, 'role');
    const drafts = this.talk.of(this.#drafts(type, entry, message), { time: stringAt(entry, 'timestamp') });
    // A summary of the branch that the person left begins the talk on the new one.
    const isSummary = type === 'branch_summary';
    const isTalk = type === 'message' || isSummary;
    if (id !== undefined && type !== 'session')
      this.#depths.set(id, (this.#depths.get(parent ?? '') ?? 0) + (isTalk || type === 'custom_message' ? 1 : 0));
    const kind = role === 'user' ? 'prompt' : role === 'assistant' ? 'response' : undefined;
    const begins = kind === undefined || id === undefined ? {} : { begins: { kind, id } as const };
    const isKnown = drafts.length > 0 || plainTypes.has(type) || isTalk;
    const warnings = isKnown ? {} : { warnings: [`its type "${type}" is not known`] };
    const own = type === 'session' ? {} : given({ id, parent });
    return {
      type: role === undefined ? type : `${type}.${role}`,
      ...own,
      isTalk,
      drafts,
      ...(isPrompt(isSummary ? 'user' : role, id) ?? begins),
      ...warnings,
    };
  }

  #drafts(type: string, entry: JsonObject, message: JsonObject | undefined): EventDraft[] {
    switch (type) {
      case 'message':
        return this.#message(message ?? {}, stringAt(entry, 'id') ?? stringAt(entry, 'timestamp') ?? '');
      case 'model_change': {
        const model = stringAt(entry, 'modelId');
        return model === undefined ? [] : [{ type: 'settings.changed', data: { model } }];
      }
      case 'compaction':
        return [this.#compacted(entry)];
      case 'branch_summary': {
        const summary = stringAt(entry, 'summary') ?? '';
        return summary === '' ? [] : [said('user', summary)];
      }
      case 'custom_message':
        return [said('user', contentOf(entry['content']))];
      default:
        return [];
    }
  }

  #compacted(entry: JsonObject): EventDraft {
    const summary = stringAt(entry, 'summary') ?? '';
    const parent = this.#depths.get(stringAt(entry, 'parentId') ?? '') ?? 0;
    const first = this.#depths.get(stringAt(entry, 'firstKeptEntryId') ?? '');
    const kept = first === undefined ? 0 : Math.max(0, parent - first + 1);
    const tokensBefore = numberAt(entry, 'tokensBefore');
    return {
      type: 'conversation.compacted',
      data: { messages: [{ role: 'user', content: summary }], kept, ...given({ tokensBefore }) },
    };
  }

  #message(message: JsonObject, id: string): EventDraft[] {
    const content = contentOf(message['content']);
    switch (message['role']) {
      case 'user': {
        const prompt = typeof content === 'string' ? content : textIn(content);
        return [
          said('user', content),
          ...this.talk.begin({ prompt, command: 'pi', cwd: stringAt(this.#header, 'cwd') }),
        ];
      }
      case 'assistant':
        return this.#answer(message, content, id);
      case 'toolResult':
        return this.talk.toolEnded(stringAt(message, 'toolCallId') ?? '', {
          output: resultOutput(message['content']),
          isError: message['isError'] === true,
          name: stringAt(message, 'toolName'),
        });
      case 'bashExecution': {
        const command = stringAt(message, 'command') ?? '';
        const [started, ...ended] = [
          this.talk.toolStarted(id, 'bash', { command }),
          ...this.talk.toolEnded(id, { output: message['output'] ?? null, exitCode: numberAt(message, 'exitCode') }),
        ];
        return started === undefined ? [] : [started, ...ended];
      }
      case 'custom':
      case 'branchSummary':
      case 'compactionSummary':
        return [said('user', typeof message['summary'] === 'string' ? message['summary'] : content)];
      default:
        return [];
    }
  }

  #answer(message: JsonObject, content: string | JsonObject[], id: string): EventDraft[] {
    const usage = objectAt(message, 'usage');
    const [read, written] = [numberAt(usage, 'cacheRead') ?? 0, numberAt(usage, 'cacheWrite') ?? 0];
    const tokens = given({
      inputTokens: usage === undefined ? undefined : (numberAt(usage, 'input') ?? 0) + read + written,
      outputTokens: numberAt(usage, 'output'),
      cachedInputTokens: usage === undefined ? undefined : read,
      cacheWriteTokens: usage === undefined ? undefined : written,
    });
    const stop = stringAt(message, 'stopReason');
    const isFailed = stop === 'error' || stop === 'aborted';
    const error = isFailed ? { name: 'Error', message: stringAt(message, 'errorMessage') ?? stop ?? '' } : undefined;
    const cost = numberAt(objectAt(usage, 'cost'), 'total');
    const outcome = isFailed ? (stop === 'aborted' ? 'aborted' : 'error') : undefined;
    const [started, ended] = this.talk.modelCall(id, stringAt(message, 'model') ?? 'unknown', {
      ...given({ outcome, usage: tokens, cost, error, finishReason: stop }),
      message: { role: 'assistant', content },
    }) as [EventDraft, EventDraft];
    const calls = typeof content === 'string' ? [] : content.filter((part) => part['type'] === 'tool-call');
    return [
      started,
      ended,
      // The talk takes the words of a response that was cut off from a separate message.
      ...(isFailed && content.length > 0 ? [said('assistant', content)] : []),
      ...calls.map((part) =>
        this.talk.toolStarted(String(part['toolCallId']), String(part['toolName']), part['input'] ?? {}),
      ),
    ];
  }
}

function isPrompt(
  role: string | undefined,
  id: string | undefined,
): { readonly begins: { readonly kind: 'prompt'; readonly id: string } } | undefined {
  return role === 'user' ? { begins: { kind: 'prompt', id: id ?? '' } } : undefined;
}

const textIn = (parts: readonly JsonObject[]): string =>
  parts.flatMap((part) => (part['type'] === 'text' ? [String(part['text'])] : [])).join('\n');

function contentOf(content: JsonValue | undefined): string | JsonObject[] {
  if (typeof content === 'string') return content;
  return (isArray(content) ? content : []).filter(isObject).map((block): JsonObject => {
    switch (block['type']) {
      case 'thinking': {
        const signature = stringAt(block, 'thinkingSignature');
        const options = signature === undefined ? {} : { providerOptions: { pi: { signature } } };
        return { type: 'reasoning', text: stringAt(block, 'thinking') ?? '', ...options };
      }
      case 'toolCall':
        return toolCallPart(
          stringAt(block, 'id') ?? '',
          stringAt(block, 'name') ?? 'unknown',
          block['arguments'] ?? {},
        );
      case 'image':
        return {
          type: 'image',
          image: stringAt(block, 'data') ?? '',
          ...given({ mediaType: stringAt(block, 'mimeType') }),
        };
      default:
        return block;
    }
  });
}
