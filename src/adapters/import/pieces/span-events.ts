import type { EventDraft } from '../../../core/event/event.ts';
import {
  given,
  isArray,
  isObject,
  type JsonArray,
  type JsonInput,
  type JsonObject,
  type JsonValue,
} from '../../../core/json.ts';
import { titleOf } from '../../../core/title.ts';

/** A span of a trace in the neutral form: work with a beginning and an end, inside other work. */
export interface Span {
  readonly id: string;
  readonly parent?: string | undefined;
  readonly trace?: string | undefined;
  readonly kind: 'agent' | 'model' | 'tool' | 'other';
  readonly name: string;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly error?: string | undefined;
  readonly input?: JsonValue | undefined;
  readonly output?: JsonValue | undefined;
  /** Of a model: the request and the answer. */
  readonly system?: string | undefined;
  readonly messages?: JsonArray | undefined;
  readonly tools?: JsonArray | undefined;
  readonly settings?: JsonObject | undefined;
  readonly answer?: JsonObject | undefined;
  readonly usage?: JsonObject | undefined;
  readonly cost?: number | undefined;
  readonly finishReason?: string | undefined;
  /** Of a tool: the id of the call that asked for it. */
  readonly call?: string | undefined;
  /** Of an agent: its name. Of a part of a trace: the agent around it. */
  readonly agent?: string | undefined;
}

interface Around {
  readonly run: string;
  readonly agent: string;
}

/** Work that is left: a span, or the events that come after everything inside one. */
type Left = { readonly span: Span; readonly around: Around | undefined } | readonly EventDraft[];

/**
 * Returns the events of spans: a trace is a run, and what happened inside a span comes between its start and end. Of a
 * part of a trace, whose other spans are in other units, only a span that is inside no other one is a run.
 */
export function spanEvents(spans: readonly Span[], isPart = false): EventDraft[] {
  const ids = new Set(spans.map(({ id }) => id));
  const isInside = ({ id, parent }: Span): boolean => parent !== undefined && parent !== id && ids.has(parent);
  const children = Map.groupBy(spans.filter(isInside), ({ parent }) => parent);
  const roots = spans.filter((span) => !isInside(span)).toSorted(byStart);
  const seen = new Set<string>();
  const drafts: EventDraft[] = [];
  // Spans that lead in a circle have no root.
  for (const root of [...roots, ...spans]) {
    const left: Left[] = [{ span: root, around: undefined }];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if ('span' in next) for (const more of begun(next, { seen, children, drafts, isPart })) left.push(more);
      else drafts.push(...next);
    }
  }
  return drafts;
}

/**
 * Returns the spans with the times and errors of those around whole traces, which their tools leave out: they begin and
 * end with what is inside, and fail if an agent right inside fails.
 */
export function withTraceEnds(spans: readonly Span[]): Span[] {
  const inside = Map.groupBy(spans, ({ trace }) => trace);
  return spans.map((span) => {
    if (span.id !== span.trace || span.end !== undefined) return span;
    const own = (inside.get(span.trace) ?? []).filter((each) => each !== span);
    const start = span.start ?? own.map((each) => each.start ?? '~').toSorted()[0];
    const end = own
      .map((each) => each.end ?? each.start ?? '')
      .toSorted()
      .at(-1);
    const failed = own.find(({ kind, parent, error }) => kind === 'agent' && parent === span.id && error !== undefined);
    return {
      ...span,
      ...(start === undefined || start === '~' ? {} : { start }),
      ...(end === undefined || end === '' ? {} : { end }),
      ...given({ error: span.error ?? failed?.error }),
    };
  });
}

/** Writes what comes before everything inside a span; returns what is left of it, the last first. */
function begun(
  { span, around }: Exclude<Left, readonly EventDraft[]>,
  told: {
    readonly seen: Set<string>;
    readonly children: ReadonlyMap<string | undefined, readonly Span[]>;
    readonly drafts: EventDraft[];
    readonly isPart: boolean;
  },
): Left[] {
  // Two spans may share an id, or lead in a circle.
  if (told.seen.has(span.id)) return [];
  told.seen.add(span.id);
  const own = around ?? { run: span.trace ?? span.id, agent: span.agent ?? 'agent' };
  const within = span.kind === 'agent' ? { ...own, agent: span.agent ?? span.name } : own;
  const isRoot = around === undefined && !(told.isPart && span.parent !== undefined);
  const { before, after } = edges(span, isRoot);
  const of = (drafts: readonly EventDraft[], time: string | undefined): EventDraft[] =>
    drafts.map((draft) => ({ ...within, ...given({ time }), ...draft }));
  told.drafts.push(...of(before, span.start));
  const inside = (told.children.get(span.id) ?? []).toSorted(byStart).reverse();
  return [of(after, span.end ?? span.start), ...inside.map((child) => ({ span: child, around: within }))];
}

const byStart = (a: Span, b: Span): number =>
  (a.start ?? '') < (b.start ?? '') ? -1 : (a.start ?? '') > (b.start ?? '') ? 1 : 0;

/** Returns what comes before and after everything inside a span. */
function edges(span: Span, isRoot: boolean): { readonly before: EventDraft[]; readonly after: EventDraft[] } {
  const outcome = span.error === undefined ? 'ok' : 'error';
  const error = span.error === undefined ? undefined : { name: 'Error', message: span.error };
  switch (span.kind) {
    case 'model':
      return modelEdges(span, outcome, error);
    case 'tool': {
      const about = { call: span.call ?? span.id, kind: 'tool', name: span.name };
      return {
        before: [{ type: 'call.started', data: { ...about, input: span.input ?? {} } }],
        after: [{ type: 'call.ended', data: { ...about, outcome, output: span.output ?? null, ...given({ error }) } }],
      };
    }
    default:
      if (!isRoot) return { before: [], after: [] };
      return {
        before: [{ type: 'run.started', data: { title: titleOf(span.name) } }],
        after: [{ type: 'run.ended', data: { outcome, ...given({ result: span.output, error }) } }],
      };
  }
}

function modelEdges(
  span: Span,
  outcome: string,
  error: JsonInput | undefined,
): { readonly before: EventDraft[]; readonly after: EventDraft[] } {
  const about = { call: span.id, kind: 'model', name: span.name };
  const { system, messages, tools, settings, answer: message, usage, cost, finishReason } = span;
  const request = given({ system, messages, tools, settings });
  const asked = Object.keys(request).length === 0 ? given({ input: span.input }) : { request };
  const said = message === undefined ? given({ output: span.output }) : { message };
  return {
    before: [{ type: 'call.started', data: { ...about, effect: 'pure', ...asked } }],
    after: [
      { type: 'call.ended', data: { ...about, outcome, ...said, ...given({ usage, cost, finishReason, error }) } },
    ],
  };
}

/** Returns messages of any dialect in the neutral form. A result without a name has that of the call before it. */
export function neutralMessages(values: readonly JsonValue[]): JsonObject[] {
  const names = new Map<unknown, JsonValue>();
  const named = (part: JsonObject): JsonObject => {
    const { type, toolCallId, toolName = unnamed } = part;
    if (type === 'tool-call') names.set(toolCallId, toolName);
    if (type !== 'tool-result' || toolName !== unnamed) return part;
    return { ...part, toolName: names.get(toolCallId) ?? unnamed };
  };
  return values.flatMap(neutralMessage).map((message) => {
    const { content } = message;
    return isArray(content)
      ? { ...message, content: content.map((part) => (isObject(part) ? named(part) : part)) }
      : message;
  });
}

const unnamed = 'unknown';

/** Returns a message of any dialect in the neutral form. */
export function neutralMessage(value: JsonValue): JsonObject[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const message = value as JsonObject;
  const role = String(message['role'] ?? message['type'] ?? 'user').toLowerCase();
  const known = roles[role] ?? 'assistant';
  const parts = partsIn(message);
  const calls = callsIn(message);
  const id = message['tool_call_id'];
  if (known === 'tool' && typeof id === 'string') {
    const toolName = String(message['name'] ?? unnamed);
    return [
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: id, toolName, output: message['content'] ?? null }],
      },
    ];
  }
  const { content } = message;
  if (typeof content === 'string' && calls.length === 0) return [{ role: known, content }];
  // LangChain writes a call of Anthropic both into the content and next to it.
  const held = new Set(parts.filter(({ type }) => type === 'tool-call').map(({ toolCallId }) => toolCallId));
  return [{ role: known, content: [...parts, ...calls.filter(({ toolCallId }) => !held.has(toolCallId))] }];
}

const roles: Readonly<Record<string, string>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
};

function partsIn(message: JsonObject): JsonObject[] {
  // OpenInference has one text as `content`, and several parts as `contents`.
  const held = message['parts'] ?? message['contents'] ?? message['content'] ?? [];
  if (typeof held === 'string') return held === '' ? [] : [{ type: 'text', text: held }];
  return (Array.isArray(held) ? (held as JsonArray) : []).flatMap((part) => {
    if (typeof part === 'string') return [{ type: 'text', text: part }];
    return typeof part === 'object' && part !== null && !Array.isArray(part) ? [neutralPart(part as JsonObject)] : [];
  });
}

function neutralPart(part: JsonObject): JsonObject {
  const text = part['text'] ?? part['content'];
  switch (part['type']) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: String(text ?? '') };
    case 'reasoning':
      return { type: 'reasoning', text: String(text ?? '') };
    case 'tool_call':
    case 'tool_use':
      return {
        type: 'tool-call',
        toolCallId: String(part['id'] ?? ''),
        toolName: String(part['name'] ?? unnamed),
        input: part['arguments'] ?? part['args'] ?? part['input'] ?? {},
      };
    case 'tool_call_response':
      return {
        type: 'tool-result',
        toolCallId: String(part['id'] ?? ''),
        toolName: String(part['name'] ?? unnamed),
        output: part['response'] ?? part['result'] ?? null,
      };
    default:
      return typeof part['type'] === 'string' ? part : { type: 'part', ...part };
  }
}

function callsIn(message: JsonObject): JsonObject[] {
  const kwargs = message['additional_kwargs'];
  const inner = typeof kwargs === 'object' && kwargs !== null ? (kwargs as JsonObject)['tool_calls'] : undefined;
  const held = message['tool_calls'] ?? inner;
  return (Array.isArray(held) ? (held as JsonArray) : []).flatMap((call) => {
    if (typeof call !== 'object' || call === null || Array.isArray(call)) return [];
    const outer = call as JsonObject;
    const made = (outer['function'] ?? outer) as JsonObject;
    const text = made['arguments'] ?? made['args'] ?? {};
    return [
      {
        type: 'tool-call',
        toolCallId: String(outer['id'] ?? ''),
        toolName: String(made['name'] ?? unnamed),
        input: parsed(text),
      },
    ];
  });
}

/** Returns the JSON in a string; the string itself if it is not JSON. */
export function parsed(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return value;
  }
}
