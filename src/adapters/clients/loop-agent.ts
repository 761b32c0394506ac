import { given, type JsonObject, type JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Message } from '../../core/message/message.ts';
import type { BranchSettings, PendingCall, ResumableAgent, ResumeContext } from '../../core/recording/agent.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import type { EffectClass } from '../../core/recording/effects.ts';
import { recordable } from '../../core/recording/recordable.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { ToProtocol } from '../../protocols/protocol.ts';
import { functionEffect, originalFunction } from '../functions/recorded-function.ts';

/** The start of a loop. `Item` is the client's type for a message, `Tool` its type for a tool. */
export interface LoopContext<Client, Item, Tool> {
  /** The client, recorded where the loop runs. */
  readonly client: Client;
  /** The history in the provider's form, ready to be sent; it does not contain the prompt, and the loop may add to it. */
  readonly messages: Item[];
  /** The user message to answer; undefined where the loop continues without one, after the answer of a tool. */
  readonly prompt: Item | undefined;
  /** Settings that an edit of the branch gives; each is null if the loop's own value applies. */
  readonly system: string | null;
  readonly tools: Tool[] | null;
  readonly model: string | null;
  readonly settings: JsonObject | null;
  /** Calls that were asked for and not made; empty if the agent has `functions`. */
  readonly pending: readonly PendingCall[];
  readonly recorder: Recorder;
  /** Aborted when the caller aborts, time is up, or the budget is used up. */
  readonly signal: AbortSignal;
}

/** A loop over a provider's client. Its second argument is the option `run` of `resume`. */
export type Loop<Client, Item, Tool, Result, Run = unknown> = (
  context: LoopContext<Client, Item, Tool>,
  run: Run,
) => Promise<Result>;

/** How a loop becomes an agent. */
export interface LoopOptions<Client> {
  /** The client; the loop receives it recorded. */
  readonly client: Client;
  /** The name of the agent in the log. */
  readonly name?: string;
  /** The model that the loop calls where the branch names none: reasoning of other models is kept from it. */
  readonly model?: string;
  /** The functions behind the tools, by their names: calls that were asked for and not made are made before the loop continues. */
  readonly functions?: Readonly<Record<string, (...args: never[]) => unknown>>;
}

/** How the first run of a loop is recorded. */
export interface LoopStart<Run = unknown> {
  /** The title of the run in the log. */
  readonly title?: string;
  /** The second argument of the loop. */
  readonly run?: Run;
  /** Stops the run, if the loop listens to it. */
  readonly signal?: AbortSignal;
  /** The conversation before the prompt, in the neutral form; the loop gets it, and the run records it. */
  readonly messages?: readonly Message[];
}

/** A loop that can be run, and resumed on a branch. */
export interface LoopAgent<Run = unknown, Result = unknown> extends ResumableAgent<Run, Result> {
  /** Runs the loop from the beginning, recorded: the run, the user's message, and all that the loop does. */
  run(recorder: Recorder, prompt: string | Message, start?: LoopStart<Run>): Promise<Result>;
}

/** A client as its adapter describes it. */
export interface LoopKind<Client> {
  readonly framework: string;
  readonly packageName: string;
  readonly to: ToProtocol;
  record(client: Client, recorder: Recorder): Client;
}

const startKeys: KnownKeys = optionKeys<LoopStart>(
  'run the loop',
  { title: true, run: true, signal: true, messages: true },
  'a start',
);

/** Makes an agent of a loop. */
export function loopAgentOf<Client, Item extends object, Tool extends object, Run, Result>(
  loop: Loop<Client, Item, Tool, Result, Run>,
  options: LoopOptions<Client>,
  kind: LoopKind<Client>,
): LoopAgent<Run, Result> {
  const { name, model, functions } = options;
  const start = (context: Begun, run: Run): Promise<Result> => {
    const messages = kind.to.messages<Item>(context.messages);
    const [prompt] = context.prompt === undefined ? [] : kind.to.messages<Item>([context.prompt]);
    const tools = context.tools === null ? null : kind.to.tools<Tool>(context.tools);
    const { system, model: named, settings, pending, recorder, signal } = context;
    const client = kind.record(options.client, recorder);
    return loop({ client, messages, prompt, system, tools, model: named, settings, pending, recorder, signal }, run);
  };
  return {
    framework: kind.framework,
    packages: [kind.packageName],
    ...given({ name, model }),
    resume: start,
    ...(functions === undefined ? {} : { callTool: (call) => called(functions, call) }),
    effectOf: ({ name: tool }) => effectIn(functions, tool),
    run: (own, prompt, begun = {}) => {
      checkKeys(begun, startKeys);
      const recorder = recorderHere(own);
      const message: Message = typeof prompt === 'string' ? { role: 'user', content: prompt } : prompt;
      recorder.uses(kind.packageName);
      return recorder.run(given({ title: begun.title, agent: name, messages: begun.messages }), () => {
        recorder.message(message);
        return start(beginning(recorder, message, begun), begun.run as Run);
      });
    },
  };
}

/** The part of a context that a loop takes. */
type Begun = BranchSettings & Pick<ResumeContext, 'recorder' | 'messages' | 'prompt' | 'pending' | 'signal'>;

/** Returns the context of a run that is no resume. */
function beginning(recorder: Recorder, prompt: Message, { messages = [], signal }: LoopStart): Begun {
  const settings: BranchSettings = { model: null, system: null, tools: null, settings: null };
  return { recorder, messages, prompt, pending: [], ...settings, signal: signal ?? new AbortController().signal };
}

/** Returns the effect class that a function of the table was recorded with. */
function effectIn(functions: LoopOptions<unknown>['functions'] = {}, name: string): EffectClass | undefined {
  const run = Object.hasOwn(functions, name) ? functions[name] : undefined;
  return run === undefined ? undefined : functionEffect(run);
}

/** Makes a call that was asked for; the resume records it. */
function called(
  functions: NonNullable<LoopOptions<unknown>['functions']>,
  { name, input }: PendingCall,
): Promise<JsonValue> | undefined {
  const run = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (run === undefined) return undefined;
  return Promise.resolve(originalFunction(run)(input as never)).then((output) => recordable(output).value ?? null);
}
