import {
  type AgentInputItem,
  Runner,
  type RunResult,
  type Session,
  type StreamedRunResult,
  ToolCallError,
} from '@openai/agents';
import { RepriseError } from '../../core/error.ts';
import { given, isObject, type JsonValue } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Message } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import { checkDeclared } from '../../core/recording/effects.ts';
import type { OpenRun, Recorder } from '../../core/recording/recorder.ts';
import type { AnyAgent } from './acting-agent.ts';
import { messagesFromItems, messagesOfInput } from './messages-from-items.ts';
import { isState, recordDecisions, recordInterruptions } from './person-approval.ts';
import { toJson } from './provider-fields.ts';
import { type RecordAgentOptions, recordAgent, recordedEffects, withRecordedState } from './recorded-agent.ts';
import { recordModel, recordModels } from './recorded-model.ts';
import { toolAnswersOf } from './recording-memory.ts';

/** How to record the runs of a runner. */
export interface RecordRunnerOptions extends RecordAgentOptions {
  /** The title of the runs in the log. */
  readonly title?: string;
}

const runnerKeys: KnownKeys = optionKeys<RecordRunnerOptions>(
  'record the runner',
  { effects: true, title: true },
  'a recording',
);

/**
 * Returns a runner like the given one that records whole runs: the user's message, every model call, tool and handoff.
 * It takes and returns what the framework's own does, streams included.
 *
 * @example
 * ```ts
 * await using recorder = await session.record();
 * const recorded = recordRunner(runner, recorder, { title: 'Refund', effects: { refund: 'irreversible' } });
 * const { finalOutput } = await recorded.run(support, 'Order 7 broke.');
 * ```
 */
export function recordRunner(runner: Runner, recorder: Recorder, options: RecordRunnerOptions = {}): Runner {
  checkDeclared(options, runnerKeys);
  const models = runnerWithModels(runner, recorder);
  const plain = models.run.bind(models) as (...args: readonly unknown[]) => Promise<AnyResult>;
  const run = async (agent: AnyAgent, input: unknown, ...rest: readonly unknown[]): Promise<AnyResult> => {
    const { title, ...declared } = options;
    const here = recorderHere(recorder);
    const messages = await messagesBefore(input, rest[0], { recorder: here, runner });
    const open = here.startRun({ agent: agent.name, ...given({ title, messages }) });
    try {
      const result = await open.within(async () => {
        await recordDecisions(here, input);
        for (const message of newMessages(input)) here.message(message, { agent: agent.name });
        const copy = recordAgent(agent, here, declared);
        const go = (): Promise<AnyResult> => plain(copy, input, ...rest);
        if (!isState(input)) return go();
        const effects = recordedEffects(copy);
        return withRecordedState(input, here, { options: given({ effects }), changed: (each) => each }, go);
      });
      if ('completed' in result) return endedLater(open, here, result);
      await endNow(open, here, result);
      await open.checked();
      return result;
    } catch (error) {
      open.end({ error });
      throw refusalIn(error);
    }
  };
  models.run = run as Runner['run'];
  return models;
}

/** Unwraps a refusal: a refused call fails its tool, and the framework wraps the error of a tool. */
export function refusalIn(error: unknown): unknown {
  return error instanceof ToolCallError && error.error instanceof RepriseError ? error.error : error;
}

type AnyResult = RunResult<unknown, AnyAgent> | StreamedRunResult<unknown, AnyAgent>;

/** Returns the new messages of the user: the user messages at the end of the input. */
function newMessages(input: unknown): readonly Message[] {
  if (typeof input !== 'string' && !Array.isArray(input)) return [];
  const messages = messagesFromItems(input);
  return messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1);
}

/**
 * Returns the messages that a run begins with, without the new ones: those of the session and of the input, or those of
 * the state that is continued. Undefined if there are none. A session that cannot be read fails in the run, not here.
 */
async function messagesBefore(
  input: unknown,
  options: unknown,
  { recorder, runner }: { readonly recorder: Recorder; readonly runner: Runner },
): Promise<readonly Message[] | undefined> {
  try {
    const items = isState(input) ? input.history : await itemsOf(input, options, runner);
    const messages = messagesOfInput(items, toolAnswersOf(recorder));
    const before = messages.slice(0, messages.length - newMessages(input).length);
    return before.length === 0 ? undefined : before;
  } catch {
    return undefined;
  }
}

/** Returns the items that a run sends first: those of its session, and those of its input. */
async function itemsOf(input: unknown, options: unknown, { config }: Runner): Promise<readonly AgentInputItem[]> {
  const { session, sessionInputCallback: own } = propertiesOf(options);
  const given: AgentInputItem[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : Array.isArray(input) ? input : [];
  if (!isSession(session)) return given;
  const held = await session.getItems();
  const combine = own ?? config.sessionInputCallback;
  if (typeof combine !== 'function') return [...held, ...given];
  const combined: unknown = await combine([...held], [...given]);
  return Array.isArray(combined) ? combined : [...held, ...given];
}

const isSession = (value: unknown): value is Session => typeof propertiesOf(value)['getItems'] === 'function';

/** Ends a streamed run when it completes; its `completed` then waits for the recording, too. */
function endedLater(open: OpenRun, recorder: Recorder, result: StreamedRunResult<unknown, AnyAgent>): AnyResult {
  const completed = result.completed.then(
    async () => {
      const ending = endNow(open, recorder, result);
      if (ending !== undefined) await ending;
      return open.checked();
    },
    (error: unknown) => {
      open.end({ error });
      throw refusalIn(error);
    },
  );
  // Not every program awaits it: then a rejection must not count as unhandled.
  completed.catch(() => undefined);
  return Object.defineProperty(result, 'completed', { value: completed });
}

/** Ends a run; one that asks a person for an approval ends `waiting`. Any other ends at once: few await a stream's end. */
function endNow(open: OpenRun, recorder: Recorder, result: AnyResult): Promise<void> | void {
  const { interruptions } = result;
  if (interruptions.length > 0) {
    const asked = open.within(() => recordInterruptions(recorder, interruptions));
    return asked.then(() => open.end({ outcome: 'waiting' }));
  }
  if (isObject(result) && result['cancelled'] === true) return open.end({ outcome: 'aborted' });
  const output: JsonValue | undefined = toJson(result.finalOutput);
  open.end(given({ result: output }));
}

/** Returns a runner like the given one that records its models; the listeners of the given one hear its runs. */
export function runnerWithModels(given: Runner, recorder: Recorder): Runner {
  const { model, modelProvider } = given.config;
  const runner = new Runner({
    ...given.config,
    modelProvider: recordModels(modelProvider, recorder),
    ...(model === undefined ? {} : { model: typeof model === 'string' ? model : recordModel(model, recorder) }),
  });
  runner.emit = given.emit.bind(given);
  return runner;
}
