import {
  generateText as aiGenerateText,
  streamText as aiStreamText,
  type ModelMessage,
  type TextStreamPart,
  type ToolSet,
} from 'ai';
import { assert } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Message } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import { agreedEffects, checkDeclared, type EffectClass } from '../../core/recording/effects.ts';
import { Originals } from '../../core/recording/originals.ts';
import type { OpenRun, Recorder, RunStart } from '../../core/recording/recorder.ts';
import { type AnyAgent, agentSettings, withSettings } from './agent-settings.ts';
import { neutralMessage } from './neutral-message.ts';
import { recordedSettings, type SettingsRecording } from './recorded-settings.ts';
import { isShaped, packages, type RecordingTarget } from './recording-target.ts';
import { recordDecisions, recordRequests } from './tool-approval.ts';

/** How to record calls of the AI SDK. */
export interface RecordAiSdkOptions {
  /** The agent's name in the log. */
  readonly agent?: string;
  /** The title of the runs in the log. */
  readonly title?: string;
  /** The effect class of each tool by name; `unknown` if left out. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
}

const recordKeys: KnownKeys = optionKeys<RecordAiSdkOptions>(
  'record the AI SDK',
  { agent: true, title: true, effects: true },
  'a recording',
);

/** `generateText` and `streamText` that record. */
export interface RecordedAiSdk {
  readonly generateText: typeof aiGenerateText;
  readonly streamText: typeof aiStreamText;
}

/**
 * Returns `generateText` and `streamText` that record: each call is a run, with the user's message, every model call
 * and every tool. They take and return what those of the AI SDK do.
 *
 * @example
 * ```ts
 * await using recorder = await session.record();
 * const ai = recordAiSdk(recorder);
 * const { text } = await ai.generateText({ model, prompt: 'Hello?' });
 * ```
 */
export function recordAiSdk(recorder: Recorder, options: RecordAiSdkOptions = {}): RecordedAiSdk {
  checkDeclared(options, recordKeys);
  recorder.uses(...packages);
  const generateText = (settings: Parameters<typeof aiGenerateText>[0]): ReturnType<typeof aiGenerateText> =>
    recordRun(recorderHere(recorder), { options, call: settings }, (recording) =>
      aiGenerateText(recordedSettings(settings, recording)),
    );
  const streamText = (settings: Parameters<typeof aiStreamText>[0]): ReturnType<typeof aiStreamText> => {
    const watching = startStreamRun(recorderHere(recorder), options, settings);
    try {
      return within(watching, settings.messages, (recording) =>
        aiStreamText(withWatcher(recordedSettings(settings, recording), watching)),
      );
    } catch (error) {
      watching.run.end({ error });
      throw error;
    }
  };
  return { generateText: generateText as typeof aiGenerateText, streamText: streamText as typeof aiStreamText };
}

/**
 * Returns a copy of a `ToolLoopAgent` that records every `generate` and `stream` as a run. Its name in the log is its
 * id, unless the options name it.
 *
 * @example
 * ```ts
 * const recorder = await session.record();
 * const agent = recordAgent(new ToolLoopAgent({ id: 'support', model }), recorder);
 * await agent.generate({ prompt: 'Order 7 broke.' });
 * await recorder.close();
 * ```
 */
export function recordAgent<A extends AnyAgent>(agent: A, recorder: Recorder, options: RecordAiSdkOptions = {}): A {
  checkDeclared(options, recordKeys);
  recorder.uses(...packages);
  const original = originalAgent(agent);
  const settings = agentSettings(original);
  const effects = agreedEffects(options.effects, recordedEffects(agent));
  const named: RecordAiSdkOptions = { ...given({ agent: original.id }), ...options, effects };
  const running = (recording: SettingsRecording): RunnableAgent =>
    withSettings(original, recordedSettings(settings, recording));
  const generate: RunnableAgent['generate'] = (call) =>
    recordRun(recorderHere(recorder), { options: named, call }, (recording) => running(recording).generate(call));
  const stream: RunnableAgent['stream'] = async (call) => {
    const watching = startStreamRun(recorderHere(recorder), named, call);
    try {
      return await within(watching, propertiesOf(call)['messages'], (recording) =>
        running(recording).stream(withWatcher(call, watching)),
      );
    } catch (error) {
      watching.run.end({ error });
      throw error;
    }
  };
  const recorded = Object.assign(withSettings(original, settings), { generate, stream });
  return originals.remember(recorded, original, effects);
}

interface RunnableAgent {
  generate(call: object): Promise<{ readonly text: string; readonly content?: unknown }>;
  stream(call: object): Promise<object>;
}

/** The agents that record, with the effect classes of their tools. */
const originals = new Originals<AnyAgent, RecordAiSdkOptions['effects']>();

/** Returns the agent behind one that records; any other agent as it is. */
export function originalAgent<A extends AnyAgent>(agent: A): A {
  return originals.of(agent);
}

/** Returns the effect classes that an agent was recorded with; undefined if it does not record. */
export function recordedEffects(agent: AnyAgent): RecordAiSdkOptions['effects'] {
  return originals.factsOf(agent);
}

function startOf(recorder: Recorder, { agent, title }: RecordAiSdkOptions, call: object): RunStart {
  const messages = messagesBefore(recorder, call);
  return given({ agent, title, messages: messages.length === 0 ? undefined : messages });
}

/** Returns the messages that a call begins with, without its new ones: those of the user at the end are recorded apart. */
function messagesBefore(recorder: Recorder, call: object): readonly Message[] {
  const { messages, prompt } = propertiesOf(call);
  const list = (Array.isArray(messages) ? messages : Array.isArray(prompt) ? prompt : []).filter(isModelMessage);
  const before = list.slice(0, list.findLastIndex(({ role }) => role !== 'user') + 1);
  const isOwnPrompt = before[0]?.role === 'system' && before[1]?.role !== 'system';
  const shaped = { isShaped: (id: string) => isShaped(recorder, id) };
  // A request has one plain system message apart from its list.
  return before.slice(isOwnPrompt ? 1 : 0).map((message) => neutralMessage(message, shaped));
}

const isModelMessage = (value: unknown): value is ModelMessage => {
  const { role, content } = propertiesOf(value);
  return typeof role === 'string' && (typeof content === 'string' || Array.isArray(content));
};

/** Records a run around a call; the recorded result is the text. */
async function recordRun<R extends { readonly text: string; readonly content?: unknown }>(
  recorder: Recorder,
  { options, call }: { readonly options: RecordAiSdkOptions; readonly call: object },
  make: (recording: SettingsRecording) => PromiseLike<R>,
): Promise<R> {
  const results: R[] = [];
  await recorder.run(startOf(recorder, options, call), async () => {
    await recordDecisions(recorder, propertiesOf(call)['messages']);
    const result = await make(recordingOf(recorder, options, (body) => body()));
    await recordRequests(recorder, result.content);
    results.push(result);
    return result.text;
  });
  const [result] = results;
  assert(result !== undefined, 'a run that succeeds has a result');
  return result;
}

function startStreamRun(recorder: Recorder, options: RecordAiSdkOptions, call: object): Watching {
  const run = recorder.startRun(startOf(recorder, options, call));
  return { run, recorder, recording: recordingOf(recorder, options, (body) => run.within(body)) };
}

/** Makes a call inside a streamed run, after the decisions in its messages. */
function within<R>(
  { run, recorder, recording }: Watching,
  messages: unknown,
  make: (recording: SettingsRecording) => R,
): R {
  void run.within(() => recordDecisions(recorder, messages));
  return run.within(() => make(recording));
}

function recordingOf(
  recorder: Recorder,
  { agent, effects }: RecordAiSdkOptions,
  within: RecordingTarget['within'],
): SettingsRecording {
  const named = given({ agent });
  const target: RecordingTarget = { recorder, within, onRequest: newMessages(recorder, named), ...named };
  return { target, ...given({ effects }) };
}

/**
 * Records the user messages at the end of a request that earlier requests of the run did not have. They come from the
 * request itself, so that the recorded messages are exactly those that the model got.
 */
function newMessages(
  recorder: Recorder,
  named: { readonly agent?: string },
): NonNullable<RecordingTarget['onRequest']> {
  let sent = 0;
  return (prompt) => {
    const last = prompt.findLastIndex(({ role }) => role !== 'user');
    for (const message of prompt.slice(Math.max(last + 1, sent))) recorder.message(neutralMessage(message), named);
    sent = prompt.length;
  };
}

/** Adds a transform that changes nothing and ends the run when the stream is over. */
function withWatcher<T extends object>(settings: T, watching: Watching): T {
  const { experimental_transform: own = [] } = propertiesOf(settings);
  const all: unknown[] = [...(Array.isArray(own) ? own : [own]), () => runWatcher(watching)];
  return { ...settings, experimental_transform: all };
}

/** A streamed run and where it is recorded. */
interface Watching {
  readonly run: OpenRun;
  readonly recorder: Recorder;
  readonly recording: SettingsRecording;
}

function runWatcher({ run, recorder }: Watching): TransformStream<TextStreamPart<ToolSet>, TextStreamPart<ToolSet>> {
  let text = '';
  const approvals: object[] = [];
  let failure: { readonly outcome?: Outcome; readonly error?: unknown } = {};
  return new TransformStream({
    transform(part, controller) {
      if (part.type === 'start-step') text = '';
      else if (part.type === 'text-delta') text += part.text;
      else if (part.type === 'tool-approval-request' || part.type === 'tool-approval-response') approvals.push(part);
      else if (part.type === 'abort') failure = { outcome: 'aborted' };
      else if (part.type === 'error') failure = { error: part.error };
      controller.enqueue(part);
    },
    async flush() {
      if (approvals.length > 0) await run.within(() => recordRequests(recorder, approvals));
      run.end({ ...(text === '' ? {} : { result: text }), ...failure });
      return run.checked();
    },
    cancel: (reason) => run.end(reason instanceof Error ? { error: reason } : { outcome: 'aborted' }),
  });
}
