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
import { titleOf } from '../../../core/title.ts';
import { anthropicUsage, blocksOf, neutralContent, resultOutput } from '../pieces/anthropic-blocks.ts';
import { testsRan } from '../pieces/test-command.ts';

/** The agent that a session of Claude Code belongs to. */
const claudeAgent = 'claude-code';

/** A response that spans several lines: its usage is that of the last one. */
interface OpenResponse {
  readonly id: string;
  readonly model: string;
  usage: JsonObject | undefined;
  finishReason: string | undefined;
  hasTools: boolean;
}

interface OpenTool {
  readonly name: string;
  readonly command: string | undefined;
}

/** Types of lines that mean nothing to a conversation. */
const plainTypes: ReadonlySet<string> = new Set([
  'file-history-snapshot',
  'queue-operation',
  'summary',
  'pr-link',
  'progress',
  'system',
  'attachment',
  'last-prompt',
  'permission-mode',
  'ai-title',
  'custom-title',
  'agent-name',
  'agent-color',
]);

/** Reads the lines of one session of Claude Code. */
export class ClaudeCodeReader {
  readonly #session: string | undefined;
  readonly #fileAgents: ReadonlySet<string | undefined>;
  readonly #responses = new Map<string, OpenResponse>();
  readonly #tools = new Map<string, OpenTool>();
  readonly #agents = new Set<string>();
  /** The agents of inline sub-agents, by the ids of their lines. */
  readonly #sidechains = new Map<string, string>();
  #hasBegun = false;

  /** `fileAgents` are the agents that have their own files. */
  constructor(session: string | undefined, fileAgents: ReadonlySet<string | undefined>) {
    this.#session = session;
    this.#fileAgents = fileAgents;
  }

  /** Returns the meaning of a line; `fileAgent` is the agent that its file is of. */
  line(line: JsonObject, fileAgent: string | undefined): UnitMeaning {
    const type = stringAt(line, 'type') ?? 'unknown';
    const agent = this.#agentOf(line, fileAgent);
    const parent = stringAt(line, 'parentUuid') ?? stringAt(line, 'logicalParentUuid');
    const about = { type: typeName(line, type), ...given({ id: stringAt(line, 'uuid'), parent }) };
    if (type === 'user' || type === 'assistant') return { ...about, isTalk: true, ...this.#talk(type, line, agent) };
    const settled = this.#isOver(agent) ? this.#settle(agent) : [];
    const drafts = this.#other(type, line);
    const warnings = plainTypes.has(type) || drafts.length > 0 ? {} : { warnings: [`its type "${type}" is not known`] };
    return { ...about, settled, drafts, ...warnings };
  }

  end(): { readonly drafts: readonly EventDraft[]; readonly warnings: readonly string[] } {
    const drafts = [...this.#responses.keys()].flatMap((agent) => this.#settle(agent));
    const warnings = [...this.#tools].map(([call, { name }]) => `the call ${call} of ${name} was never answered`);
    return { drafts, warnings };
  }

  #other(type: string, line: JsonObject): EventDraft[] {
    if (type === 'system' && line['subtype'] === 'compact_boundary') {
      const data = objectAt(line, 'compactMetadata');
      const facts = given({ trigger: stringAt(data, 'trigger'), tokensBefore: numberAt(data, 'preTokens') });
      return this.#of(line, claudeAgent, [{ type: 'conversation.compacted', data: facts }]);
    }
    const progress = objectAt(line, 'data');
    const inner = objectAt(progress, 'message');
    const agent = stringAt(progress, 'agentId');
    if (type !== 'progress' || progress?.['type'] !== 'agent_progress' || inner === undefined || agent === undefined)
      return [];
    // A sub-agent's line inside a line about its progress; its own file has that line too.
    if (this.#fileAgents.has(agent)) return [];
    const kind = stringAt(inner, 'type');
    if (kind !== 'user' && kind !== 'assistant') return [];
    const { settled = [], drafts } = this.#talk(kind, { ...line, ...inner }, agent);
    return [...settled, ...drafts];
  }

  #talk(
    type: 'user' | 'assistant',
    line: JsonObject,
    agent: string,
  ): Pick<UnitMeaning, 'begins' | 'drafts' | 'settled'> {
    const message = objectAt(line, 'message');
    const isMain = agent === claudeAgent;
    if (type === 'assistant') {
      const id = stringAt(message, 'id') ?? stringAt(line, 'uuid') ?? '';
      const settled = this.#responses.get(agent)?.id === id ? [] : this.#settle(agent);
      const drafts = this.#of(line, agent, this.#response(id, line, message, agent));
      return { settled, drafts: this.#begun(line, drafts), ...(isMain ? { begins: { kind: 'response', id } } : {}) };
    }
    const isPrompt = isMain && isTyped(line, message);
    const settled = blocksOf(message, 'tool_result').length > 0 ? [] : this.#settle(agent);
    const drafts = this.#of(line, agent, [...this.#said(message), ...this.#results(line, message)]);
    const begins = isPrompt ? { begins: { kind: 'prompt' as const, id: stringAt(line, 'uuid') ?? '' } } : {};
    return { settled, drafts: this.#begun(line, drafts, isPrompt ? message : undefined), ...begins };
  }

  /** Returns what a user line says in addition to the results of tools. */
  #said(message: JsonObject | undefined): EventDraft[] {
    const content = neutralContent(message?.['content']);
    const said = typeof content === 'string' ? content : content.filter((part) => part['type'] !== 'tool_result');
    return said.length === 0 ? [] : [{ type: 'message.added', data: { message: { role: 'user', content: said } } }];
  }

  #response(id: string, line: JsonObject, message: JsonObject | undefined, agent: string): EventDraft[] {
    const model = stringAt(message, 'model') ?? 'unknown';
    const drafts: EventDraft[] = [];
    let open = this.#responses.get(agent);
    // A message that the tool itself made up, such as an error, is not a response of a model.
    if (open === undefined && model !== '<synthetic>' && booleanAt(line, 'isApiErrorMessage') !== true) {
      open = { id, model, usage: undefined, finishReason: undefined, hasTools: false };
      this.#responses.set(agent, open);
      drafts.push({ type: 'call.started', data: { call: id, kind: 'model', name: model, effect: 'pure' } });
    }
    const content = neutralContent(message?.['content']);
    if (content.length > 0) drafts.push({ type: 'message.added', data: { message: { role: 'assistant', content } } });
    for (const block of blocksOf(message, 'tool_use')) drafts.push(this.#toolStarted(block));
    if (open !== undefined) {
      open.usage = anthropicUsage(objectAt(message, 'usage')) ?? open.usage;
      open.finishReason = stringAt(message, 'stop_reason') ?? open.finishReason;
      open.hasTools ||= blocksOf(message, 'tool_use').length > 0;
    }
    return drafts;
  }

  #toolStarted(block: JsonObject): EventDraft {
    const call = stringAt(block, 'id') ?? '';
    const name = stringAt(block, 'name') ?? 'unknown';
    const input = block['input'] ?? {};
    this.#tools.set(call, { name, command: stringAt(input, 'command') });
    return { type: 'call.started', data: { call, kind: 'tool', name, input } };
  }

  #results(line: JsonObject, message: JsonObject | undefined): EventDraft[] {
    return blocksOf(message, 'tool_result').flatMap((block) => {
      const call = stringAt(block, 'tool_use_id') ?? '';
      const { name = 'unknown', command } = this.#tools.get(call) ?? {};
      this.#tools.delete(call);
      const isError = booleanAt(block, 'is_error') === true;
      const output = resultOutput(block['content']);
      const data = { call, kind: 'tool', name, outcome: isError ? 'error' : 'ok', output };
      return [
        { type: 'call.ended', data },
        ...patched(line['toolUseResult']),
        ...testsRan(command, exitCodeOf(output, isError), call),
      ];
    });
  }

  /** Ends the open response of an agent with the usage of its last line. */
  #settle(agent: string): EventDraft[] {
    const open = this.#responses.get(agent);
    if (open === undefined) return [];
    this.#responses.delete(agent);
    const { id, model, usage, finishReason } = open;
    const data = { call: id, kind: 'model', name: model, outcome: 'ok', ...given({ usage, finishReason }) };
    return [{ type: 'call.ended', agent, ...this.#runOf(), data }];
  }

  /** Returns true if the open response of an agent cannot continue: results of its tools may come between its lines. */
  #isOver(agent: string): boolean {
    return this.#responses.get(agent)?.hasTools === false;
  }

  #agentOf(line: JsonObject, fileAgent: string | undefined): string {
    if (fileAgent !== undefined) return fileAgent;
    if (booleanAt(line, 'isSidechain') !== true) return claudeAgent;
    const named = stringAt(line, 'agentId');
    if (named !== undefined) return named;
    const above = this.#sidechains.get(stringAt(line, 'parentUuid') ?? '');
    const agent = above ?? `sidechain-${this.#agents.size + 1}`;
    this.#agents.add(agent);
    const id = stringAt(line, 'uuid');
    if (id !== undefined) this.#sidechains.set(id, agent);
    return agent;
  }

  #of(line: JsonObject, agent: string, drafts: readonly EventDraft[]): EventDraft[] {
    const about = { agent, ...this.#runOf(), ...given({ time: stringAt(line, 'timestamp') }) };
    const isNew = agent !== claudeAgent && !this.#spawned.has(agent);
    this.#spawned.add(agent);
    const spawned: EventDraft[] = isNew ? [{ type: 'agent.spawned', data: { role: 'sub-agent' } }] : [];
    return [...drafts, ...spawned].map((draft) => ({ ...about, ...draft }));
  }

  readonly #spawned = new Set<string>();

  #runOf(): { readonly run?: string } {
    return given({ run: this.#session });
  }

  /** Puts the start of the run behind its first line, whose text the first event of a unit has. */
  #begun(line: JsonObject, drafts: EventDraft[], prompt?: JsonObject): EventDraft[] {
    // The lines that the tool writes before a first prompt, such as those of a command, give the run no title.
    if (this.#hasBegun || (prompt === undefined && line['type'] !== 'assistant')) return drafts;
    this.#hasBegun = true;
    const content = neutralContent(prompt?.['content']);
    const text =
      typeof content === 'string' ? content : String(content.find((part) => part['type'] === 'text')?.['text'] ?? '');
    const [branch, version, cwd] = ['gitBranch', 'version', 'cwd'].map((key) => stringAt(line, key));
    const data = given({
      title: text === '' ? undefined : titleOf(text),
      program: cwd === undefined ? undefined : { command: 'claude', arguments: [], cwd },
      versions: version === undefined ? undefined : { 'claude-code': version },
      git: branch === undefined || branch === '' ? undefined : { branch },
    });
    return this.#of(line, claudeAgent, [{ type: 'run.started', data }]).concat(drafts);
  }
}

function typeName(line: JsonObject, type: string): string {
  const more = stringAt(line, 'subtype') ?? stringAt(objectAt(line, 'data'), 'type');
  return more === undefined ? type : `${type}.${more}`;
}

/** Returns true if a person typed a line; the tool writes its own lines as the user. */
function isTyped(line: JsonObject, message: JsonObject | undefined): boolean {
  if (booleanAt(line, 'isMeta') === true || booleanAt(line, 'isCompactSummary') === true) return false;
  if (blocksOf(message, 'tool_result').length > 0) return false;
  const content = message?.['content'];
  return typeof content !== 'string' || !/^\s*<(?:local-command|command-|bash-)/.test(content);
}

/** Returns how a command ended: the tool writes the exit code of a failure before its output. */
function exitCodeOf(output: JsonValue, isError: boolean): number | undefined {
  if (!isError) return 0;
  const [, code] = /^(?:Error: )?Exit code (\d+)/.exec(typeof output === 'string' ? output : '') ?? [];
  return code === undefined ? undefined : Number(code);
}

/** Returns the change of a file that a result tells of, with the contents and the patch that the transcript carries. */
function patched(result: JsonValue | undefined): EventDraft[] {
  const path = stringAt(result, 'filePath');
  if (!isObject(result) || path === undefined) return [];
  const original = result['originalFile'] ?? result['originalFileContents'];
  const before = typeof original === 'string' || original === null ? original : undefined;
  const after = stringAt(result, 'content');
  const patch = after === undefined ? patchText(arrayAt(result, 'structuredPatch')) : undefined;
  if (before === undefined && after === undefined && patch === undefined) return [];
  return [{ type: 'file.patched', data: { path, ...given({ before, after, patch }) } }];
}

/** Returns hunks as the text of a unified diff. */
function patchText(hunks: JsonArray | undefined): string | undefined {
  if (hunks === undefined || hunks.length === 0) return undefined;
  return hunks
    .map((hunk) => {
      const [from, of, to, now] = ['oldStart', 'oldLines', 'newStart', 'newLines'].map(
        (key) => numberAt(hunk, key) ?? 0,
      );
      return [`@@ -${from},${of} +${to},${now} @@`, ...(arrayAt(hunk, 'lines') ?? []).map(String)].join('\n');
    })
    .join('\n');
}
