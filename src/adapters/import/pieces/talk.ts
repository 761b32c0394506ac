import type { EventDraft } from '../../../core/event/event.ts';
import { given, type JsonInput, type JsonObject, type JsonValue, stringAt } from '../../../core/json.ts';
import { titleOf } from '../../../core/title.ts';
import { testsRan } from './test-command.ts';

/** Facts about a run that a source tells. */
export interface RunFacts {
  readonly prompt?: string | undefined;
  readonly title?: string | undefined;
  readonly command?: string;
  readonly cwd?: string | undefined;
  readonly versions?: JsonObject | undefined;
  readonly git?: JsonObject | undefined;
}

/** How a tool's call ended. */
export interface ToolEnd {
  readonly output: JsonValue;
  readonly isError?: boolean;
  /** The name of the tool, if its start was not seen. */
  readonly name?: string | undefined;
  /** The exit code of a command, if it is known. */
  readonly exitCode?: number | undefined;
}

/** Returns a message as an event. */
export function said(
  role: 'system' | 'user' | 'assistant' | 'tool',
  content: string | readonly JsonObject[],
): EventDraft {
  return { type: 'message.added', data: { message: { role, content } } };
}

/** Returns a tool call as a part of a message. */
export function toolCallPart(call: string, name: string, input: JsonValue): JsonObject {
  return { type: 'tool-call', toolCallId: call, toolName: name, input };
}

/** Returns the facts of `run.started`. */
function startedRun({ prompt, title, command, cwd, versions, git }: RunFacts): EventDraft {
  const text = title ?? prompt;
  return {
    type: 'run.started',
    data: given({
      title: text === undefined || text.trim() === '' ? undefined : titleOf(text),
      program: cwd === undefined ? undefined : { command: command ?? 'agent', arguments: [], cwd },
      versions,
      git,
    }),
  };
}

/** The talk of one agent: its open tool calls, with their names and commands. */
export class Talk {
  readonly #tools = new Map<string, { readonly name: string; readonly command: string | undefined }>();
  readonly #agent: string;
  readonly #run: string | undefined;
  #hasBegun = false;

  constructor(agent: string, run: string | undefined) {
    this.#agent = agent;
    this.#run = run;
  }

  /** Returns the start of the run, once. */
  begin(facts: RunFacts): EventDraft[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return [startedRun(facts)];
  }

  toolStarted(call: string, name: string, input: JsonValue): EventDraft {
    const command = stringAt(input, 'command') ?? stringAt(input, 'cmd');
    this.#tools.set(call, { name, command });
    return { type: 'call.started', data: { call, kind: 'tool', name, input } };
  }

  toolEnded(call: string, { output, isError = false, name, exitCode }: ToolEnd): EventDraft[] {
    const open = this.#tools.get(call);
    this.#tools.delete(call);
    const known = open?.name ?? name ?? 'unknown';
    const data = { call, kind: 'tool', name: known, outcome: isError ? 'error' : 'ok', output };
    return [{ type: 'call.ended', data }, ...testsRan(open?.command, exitCode, call)];
  }

  /** Returns a whole model call that said nothing but the messages around it. */
  modelCall(call: string, model: string, end: JsonInput): EventDraft[] {
    const about = { call, kind: 'model', name: model };
    return [
      { type: 'call.started', data: { ...about, effect: 'pure' } },
      { type: 'call.ended', data: { ...about, outcome: 'ok', ...end } },
    ];
  }

  /** Adds agent, run and time to events that have none. */
  of(
    drafts: readonly EventDraft[],
    { time, agent = this.#agent }: { time?: string | undefined; agent?: string | undefined } = {},
  ): EventDraft[] {
    return drafts.map((draft) => ({ agent, ...given({ run: this.#run, time }), ...draft }));
  }

  /** Names the calls that were never answered. */
  get unanswered(): string[] {
    return [...this.#tools].map(([call, { name }]) => `the call ${call} of ${name} was never answered`);
  }
}
