import type { EventDraft } from '../../../core/event/event.ts';
import {
  arrayAt,
  booleanAt,
  given,
  isObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  stringAt,
} from '../../../core/json.ts';
import type { UnitMeaning } from '../../../core/recording/foreign-format.ts';
import { readJson } from '../pieces/first-lines.ts';
import { said, Talk, toolCallPart } from '../pieces/talk.ts';

/** The names of the elements that the tool itself puts before or behind what a person typed. */
const ownElements = [
  'environment_context',
  'external_',
  'user_instructions',
  'INSTRUCTIONS',
  'permissions',
  'collaboration_mode',
  'ENVIRONMENT',
  'turn_aborted',
  'user_shell',
  'skill>',
  'recommended_plugins',
  'task_model_guidance',
  'subagent_notification',
  'codex_internal_context',
  'goal_context',
  'hook_prompt',
];
const ownText = new RegExp(`^\\s*<(?:${ownElements.join('|')})|^# AGENTS\\.md instructions`);

interface OpenResponse {
  readonly id: string;
  readonly model: string;
  /** Whether something was sent back to the model since: the next item is of a new response. */
  isAnswered: boolean;
}

/** Reads the lines of one rollout of Codex. */
export class CodexReader {
  readonly #talk: Talk;
  readonly #meta: JsonObject | undefined;
  /** The unit before each prompt, by which a rollback finds its way. */
  readonly #prompts: string[] = [];
  /** The rollouts whose lines came before those of this one. */
  readonly #bases = new Set<string>();
  #model = 'unknown';
  #tokens = '';
  #responses = 0;
  #response: OpenResponse | undefined;

  constructor(session: string | undefined, meta: JsonObject | undefined) {
    this.#talk = new Talk('codex', session);
    this.#meta = meta;
  }

  /** Reads a line of the rollout, or of the base that it continues. */
  line(line: JsonObject, at: number, base: string | undefined): UnitMeaning {
    const type = stringAt(line, 'type') ?? 'unknown';
    const payload = objectAt(line, 'payload') ?? {};
    const inner = stringAt(payload, 'type');
    const idAt = (place: number): string => (base === undefined ? `${place}` : `${base}:${place}`);
    const id = idAt(at);
    if (base !== undefined) this.#bases.add(base);
    const about = { type: inner === undefined ? type : `${type}.${inner}`, id, isTalk: true };
    const isPrompt = type === 'response_item' && isTyped(payload);
    if (isPrompt) this.#prompts.push(idAt(at - 1));
    const time = stringAt(line, 'timestamp');
    const drafts = this.#talk.of(
      this.#drafts(type, payload, isPrompt).map(base === undefined ? itself : withoutTokens),
      { time },
    );
    const rewind =
      inner === 'thread_rolled_back' ? { rewindTo: this.#rolledBack(numberAt(payload, 'num_turns') ?? 0) } : {};
    const warnings = warningsOf(type, payload, this.#bases);
    return { ...about, drafts, ...(isPrompt ? { begins: { kind: 'prompt', id } } : {}), ...rewind, warnings };
  }

  end(): { readonly drafts: readonly EventDraft[]; readonly warnings: readonly string[] } {
    return { drafts: this.#talk.of(this.#ended(undefined)), warnings: this.#talk.unanswered };
  }

  #drafts(type: string, payload: JsonObject, isPrompt: boolean): EventDraft[] {
    switch (type) {
      case 'session_meta': {
        const system = stringAt(objectAt(payload, 'base_instructions'), 'text') ?? stringAt(payload, 'instructions');
        return system === undefined ? [] : [{ type: 'settings.changed', data: { system } }];
      }
      case 'turn_context':
        return this.#settings(payload);
      case 'response_item':
        return this.#item(payload, isPrompt);
      case 'event_msg':
        return this.#event(payload);
      case 'compacted':
        return [compacted(payload)];
      default:
        return [];
    }
  }

  #settings(payload: JsonObject): EventDraft[] {
    const model = stringAt(payload, 'model');
    if (model === undefined || model === this.#model) return [];
    this.#model = model;
    const effort = stringAt(payload, 'effort');
    return [{ type: 'settings.changed', data: { model, ...(effort === undefined ? {} : { settings: { effort } }) } }];
  }

  #item(item: JsonObject, isPrompt: boolean): EventDraft[] {
    const type = stringAt(item, 'type');
    if (type === 'message' && item['role'] !== 'assistant') {
      this.#answered();
      const role = item['role'] === 'user' ? 'user' : 'system';
      const content = contentOf(item);
      const text = typeof content === 'string' ? content : undefined;
      return [...(isPrompt ? this.#begin(text) : []), said(role, content)];
    }
    const call = stringAt(item, 'call_id') ?? stringAt(item, 'id') ?? '';
    switch (type) {
      case 'message':
        return this.#spoken([said('assistant', contentOf(item))]);
      case 'reasoning': {
        const text = [...(arrayAt(item, 'summary') ?? []), ...(arrayAt(item, 'content') ?? [])]
          .flatMap((part) => stringAt(part, 'text') ?? [])
          .join('\n\n');
        return text === '' ? [] : this.#spoken([said('assistant', [{ type: 'reasoning', text }])]);
      }
      case 'function_call':
        return this.#called(
          call,
          stringAt(item, 'name') ?? 'unknown',
          readJson(stringAt(item, 'arguments')) ?? item['arguments'] ?? {},
        );
      case 'custom_tool_call':
      case 'tool_search_call':
        return this.#called(call, stringAt(item, 'name') ?? type, item['input'] ?? item['arguments'] ?? {});
      case 'local_shell_call':
        return this.#called(call, 'local_shell', item['action'] ?? {});
      case 'web_search_call':
        return this.#called(call, 'web_search', item['action'] ?? {}).concat(
          this.#talk.toolEnded(call, { output: null }),
        );
      case 'function_call_output':
      case 'custom_tool_call_output':
      case 'tool_search_output':
        return this.#returned(call, item['output'] ?? null);
      default:
        return [];
    }
  }

  #called(call: string, name: string, input: JsonValue): EventDraft[] {
    return this.#spoken([
      said('assistant', [toolCallPart(call, name, input)]),
      this.#talk.toolStarted(call, name, input),
    ]);
  }

  #returned(call: string, output: JsonValue): EventDraft[] {
    this.#answered();
    const parsed = typeof output === 'string' ? readJson(output) : output;
    const code = numberAt(objectAt(parsed, 'metadata'), 'exit_code');
    const [, printed] =
      /^(?:[^\n]*\n){0,4}?(?:Process exited with code|Exit code:) (-?\d+)/.exec(
        typeof output === 'string' ? output : '',
      ) ?? [];
    const exitCode = code ?? (printed === undefined ? undefined : Number(printed));
    const isError = booleanAt(objectAt(parsed, 'output') ?? parsed, 'success') === false;
    return this.#talk.toolEnded(call, { output, isError, exitCode });
  }

  /** Returns the events of something that a model said; the first of a response begins its call. */
  #spoken(drafts: readonly EventDraft[]): EventDraft[] {
    const before = this.#response?.isAnswered === true ? this.#ended(undefined) : [];
    if (this.#response !== undefined) return [...before, ...drafts];
    const id = `response-${++this.#responses}`;
    this.#response = { id, model: this.#model, isAnswered: false };
    const data = { call: id, kind: 'model', name: this.#model, effect: 'pure' };
    // The first event of a unit has its text, so the call begins behind what was said before it.
    return [...before, { type: 'call.started', data }, ...drafts];
  }

  #answered(): void {
    if (this.#response !== undefined) this.#response.isAnswered = true;
  }

  #ended(usage: JsonObject | undefined): EventDraft[] {
    const open = this.#response;
    if (open === undefined) return [];
    this.#response = undefined;
    const data = { call: open.id, kind: 'model', name: open.model, outcome: 'ok', ...given({ usage }) };
    return [{ type: 'call.ended', data }];
  }

  #event(payload: JsonObject): EventDraft[] {
    switch (payload['type']) {
      case 'token_count':
        return this.#counted(objectAt(payload, 'info'));
      case 'task_complete':
      case 'turn_complete':
        return [...this.#ended(undefined), { type: 'turn.ended', data: { outcome: 'ok' } }];
      case 'turn_aborted':
        return [...this.#ended(undefined), { type: 'turn.ended', data: { outcome: 'aborted' } }];
      case 'patch_apply_end':
        return patched(objectAt(payload, 'changes'), booleanAt(payload, 'success') !== false);
      default:
        return [];
    }
  }

  /** Ends the response with its tokens. The same count is written again whenever a limit changes. */
  #counted(info: JsonObject | undefined): EventDraft[] {
    const last = objectAt(info, 'last_token_usage');
    const total = JSON.stringify(info?.['total_token_usage'] ?? null);
    if (last === undefined || total === this.#tokens) return [];
    this.#tokens = total;
    const usage: JsonObject = given({
      inputTokens: numberAt(last, 'input_tokens'),
      outputTokens: numberAt(last, 'output_tokens'),
      cachedInputTokens: numberAt(last, 'cached_input_tokens'),
      reasoningTokens: numberAt(last, 'reasoning_output_tokens'),
    });
    if (this.#response !== undefined) return this.#ended(usage);
    // A response that said nothing that was written down.
    return this.#talk.modelCall(`response-${++this.#responses}`, this.#model, { usage }).slice(1);
  }

  #begin(prompt: string | undefined): EventDraft[] {
    const { cwd, git, version } = metaFacts(this.#meta);
    return this.#talk.begin({
      prompt,
      command: 'codex',
      cwd,
      git,
      versions: version === undefined ? undefined : { codex: version },
    });
  }

  /** Returns the unit before the prompt that a rollback goes back to. */
  #rolledBack(turns: number): string {
    const from = Math.max(0, this.#prompts.length - turns);
    const before = this.#prompts[from] ?? '';
    this.#prompts.length = from;
    return before;
  }
}

const itself = (draft: EventDraft): EventDraft => draft;

/** Returns an event of a base without its tokens: they count in the session of the base. */
function withoutTokens(draft: EventDraft): EventDraft {
  const { usage: _, ...data } = draft.data ?? {};
  return { ...draft, data };
}

/** Lists why the meaning of a line is not whole. */
function warningsOf(type: string, payload: JsonObject, bases: ReadonlySet<string>): readonly string[] {
  if (!knownTypes.has(type)) return [`its type "${type}" is not known`];
  const base = type === 'session_meta' ? stringAt(objectAt(payload, 'history_base'), 'thread_id') : undefined;
  return base === undefined || bases.has(base)
    ? []
    : [`the messages before it are in the file of the session "${base}", not here`];
}

const knownTypes: ReadonlySet<string> = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'inter_agent_communication',
  'inter_agent_communication_metadata',
  'world_state',
  'security_risk_score',
]);

/** Returns what `list` shows of a session: where it worked, and on which commit. */
function metaFacts(meta: JsonObject | undefined): {
  readonly cwd: string | undefined;
  readonly version: string | undefined;
  readonly git: JsonObject | undefined;
} {
  const git = objectAt(meta, 'git');
  const [branch, sha] = [stringAt(git, 'branch'), stringAt(git, 'commit_hash')];
  return {
    cwd: stringAt(meta, 'cwd'),
    version: stringAt(meta, 'cli_version'),
    git: branch === undefined && sha === undefined ? undefined : given({ branch, sha }),
  };
}

function isTyped(item: JsonObject): boolean {
  if (item['type'] !== 'message' || item['role'] !== 'user') return false;
  const content = contentOf(item);
  const first = typeof content === 'string' ? content : content.find((part) => part['type'] === 'text')?.['text'];
  return typeof first !== 'string' || !ownText.test(first);
}

/** Returns the content of a message: one text as it is, several as parts. */
function contentOf(item: JsonObject): string | JsonObject[] {
  const content: JsonArray = arrayAt(item, 'content') ?? [];
  const parts = content.filter(isObject).map((part): JsonObject => {
    const text = stringAt(part, 'text');
    if (text !== undefined) return { type: 'text', text };
    const image = stringAt(part, 'image_url');
    return image === undefined ? part : { type: 'image', image };
  });
  const [only] = parts;
  return parts.length === 1 && only?.['type'] === 'text' ? String(only['text']) : parts;
}

function compacted(payload: JsonObject): EventDraft {
  const summary = stringAt(payload, 'message');
  const history = arrayAt(payload, 'replacement_history');
  const messages = (history ?? []).flatMap((item) => {
    if (!isObject(item) || item['type'] !== 'message') return [];
    const { role } = item;
    return [{ role: role === 'assistant' || role === 'user' ? role : 'system', content: contentOf(item) }];
  });
  const list = history === undefined && summary !== undefined ? [{ role: 'user', content: summary }] : messages;
  return {
    type: 'conversation.compacted',
    data: { messages: list, ...given({ summary: history === undefined ? undefined : summary }) },
  };
}

function patched(changes: JsonObject | undefined, isDone: boolean): EventDraft[] {
  if (!isDone) return [];
  return Object.entries(changes ?? {}).flatMap(([path, change]): EventDraft[] => {
    const kind = stringAt(change, 'type');
    const content = stringAt(change, 'content');
    if (kind === 'delete')
      return [{ type: 'file.patched', data: { path, ...given({ before: content }), after: null } }];
    if (kind === 'add') return [{ type: 'file.patched', data: { path, before: null, ...given({ after: content }) } }];
    return [{ type: 'file.patched', data: { path, ...given({ patch: stringAt(change, 'unified_diff') }) } }];
  });
}
