import type { EventDraft } from '../../core/event/event.ts';
import { arrayAt, given, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { MessagesReader } from './messages.ts';
import { said, Talk, toolCallPart } from './pieces/talk.ts';

/** The trajectories of SWE-agent (`.traj`) and mini-swe-agent (`.traj.json`). */
export const sweAgent: ForeignFormat = defineFormat({
  name: 'swe-agent',
  about: 'trajectories of SWE-agent and mini-swe-agent',
  detect: ({ text, path }) =>
    /"trajectory"\s*:\s*\[/.test(text) ||
    /"trajectory_format"\s*:\s*"mini-swe-agent/.test(text) ||
    (path !== undefined && /\.traj(?:\.json)?$/.test(path)),
  cut: () => ({ kind: 'elements', of: ['trajectory', 'messages', 'history'] }),
  open: ({ document }) => {
    const info = objectAt(document, 'info');
    const steps = new StepReader(stringAt(document, 'problem_statement'));
    const messages = new MessagesReader();
    return {
      session: stringAt(document, 'instance_id'),
      metadata: metadataOf(document, info),
      unit: ({ value, at }): UnitMeaning | undefined => {
        if (!isObject(value)) return undefined;
        // The last message of mini says how it ended; the model never sees it.
        if (value['role'] === 'exit') return { type: 'exit', drafts: [] };
        if (typeof value['role'] === 'string') return messages.message(value, at);
        return Object.hasOwn(value, 'action') || Object.hasOwn(value, 'observation')
          ? steps.step(value, at)
          : undefined;
      },
      end: () => ({ drafts: ended(info), warnings: messages.talk.unanswered }),
    };
  },
});

function metadataOf(document: JsonObject | undefined, info: JsonObject | undefined): JsonObject {
  const [environment, status] = [stringAt(document, 'environment'), stringAt(info, 'exit_status')];
  return {
    ...given({ environment, exit_status: status }),
  };
}

/** Returns the end of the run, with what the whole of it cost. */
function ended(info: JsonObject | undefined): EventDraft[] {
  if (info === undefined) return [];
  const stats = objectAt(info, 'model_stats');
  const usage = {
    inputTokens: numberAt(stats, 'tokens_sent') ?? 0,
    outputTokens: numberAt(stats, 'tokens_received') ?? 0,
  };
  const cost = numberAt(stats, 'instance_cost');
  const spent = {
    call: 'all',
    kind: 'model',
    name: 'unknown',
    outcome: 'ok',
    usage,
    ...given({ cost }),
  };
  const result = stringAt(info, 'submission');
  const status = stringAt(info, 'exit_status') ?? '';
  const outcome = /^submitted/i.test(status) ? 'ok' : /cost|limit/i.test(status) ? 'budget' : 'error';
  return [
    ...(stats === undefined ? [] : [{ type: 'call.ended', data: spent }]),
    { type: 'run.ended', data: { outcome, ...given({ result }) } },
  ];
}

/** Reads steps: a thought, a command, and what it printed. */
class StepReader {
  readonly #talk = new Talk('swe-agent', undefined);
  readonly #problem: string | undefined;

  constructor(problem: string | undefined) {
    this.#problem = problem;
  }

  step(step: JsonObject, at: number): UnitMeaning {
    const call = `step-${at + 1}`;
    const input = { command: stringAt(step, 'action') ?? '' };
    const response = stringAt(step, 'response') ?? stringAt(step, 'thought') ?? '';
    const text = response === '' ? [] : [{ type: 'text', text: response }];
    const drafts = [
      ...this.#request(step, at),
      said('assistant', [...text, toolCallPart(call, 'shell', input)]),
      this.#talk.toolStarted(call, 'shell', input),
      ...this.#talk.toolEnded(call, { output: stringAt(step, 'observation') ?? '' }),
    ];
    return {
      type: 'step',
      drafts: this.#talk.of(drafts),
      ...(at === 0 ? { begins: { kind: 'prompt', id: call } } : {}),
    };
  }

  /** Returns what the model was asked, as far as a step tells: version 1 has the exact prompt. */
  #request(step: JsonObject, at: number): EventDraft[] {
    const messages = (arrayAt(step, 'messages') ?? arrayAt(step, 'query') ?? []).filter(
      (message) => isObject(message) && typeof message['role'] === 'string',
    );
    const begun = at === 0 ? this.#talk.begin({ prompt: this.#problem }) : [];
    if (messages.length === 0 || at > 0) return begun;
    const first = messages.map((message): EventDraft => {
      const role = stringAt(message, 'role');
      const content =
        isObject(message) && typeof message['content'] === 'string'
          ? message['content']
          : JSON.stringify(isObject(message) ? message['content'] : '');
      return said(role === 'system' ? 'system' : role === 'assistant' ? 'assistant' : 'user', content);
    });
    return [...first, ...begun];
  }
}
