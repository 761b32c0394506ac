import {
  type FunctionTool,
  type Model,
  type ModelResponse,
  RunContext,
  Runner,
  type RunToolApprovalItem,
  RunToolCallOutputItem,
  type Tool,
  Usage,
} from '@openai/agents';
import { RepriseError } from '../../core/error.ts';
import type { JsonValue } from '../../core/json.ts';
import type { PendingCall } from '../../core/recording/agent.ts';
import { asError } from '../../core/recording/error-record.ts';
import { FailedTool } from '../../core/recording/failed-tool.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { AnyAgent } from './acting-agent.ts';
import { type AgentCopying, runTool, withAgents } from './inner-agents.ts';
import { recordInterruptions } from './person-approval.ts';
import { textOfValue, toJson } from './provider-fields.ts';
import { refusalIn } from './recorded-runner.ts';
import { originalTool } from './recorded-tool.ts';
import { isTimeout } from './tool-failure.ts';

/** Where a pending call is made. */
export interface CallPlace {
  /** The runner, whose models record. */
  readonly runner: Runner;
  readonly recorder: Recorder;
  readonly context: unknown;
  readonly signal: AbortSignal;
  /** Copies the agents that run inside the tool, so that they record. */
  readonly inner: AgentCopying;
}

/**
 * Makes a pending call without recording it, in a run whose model asks for this call alone and that stops at its answer.
 * So the framework itself finds the tool and gives it what it has in any run: guardrails, servers, a runner and a span.
 */
export async function makeCall(agent: AnyAgent, call: PendingCall, place: CallPlace): Promise<JsonValue> {
  let failure: Error | undefined;
  const watched = (tool: FunctionTool): FunctionTool => ({
    ...withoutNamespace(tool),
    // The resume has asked for the approval of this call.
    needsApproval: async () => false,
    deferLoading: false,
    invoke: async (...args) => {
      const signal = args[2]?.signal;
      // The framework gives the model a string in place of the result, and no longer waits for the tool.
      const giveUp = (): void => {
        if (isTimeout(signal?.reason)) failure ??= asError(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      try {
        const { result, error } = await runTool(tool, place.inner, () => tool.invoke(...args));
        failure ??= error;
        return result;
      } catch (error) {
        failure ??= asError(error);
        throw error;
      } finally {
        signal?.removeEventListener('abort', giveUp);
      }
    },
  });
  const caller = callerOf(agent, call, watched);
  const options = { context: place.context, signal: place.signal, maxTurns: 1 };
  const run = () => quietRunner(place.runner).run(caller, [], options);
  // A resume inside a recorded tool makes the call itself: the tool must neither record nor decide it.
  const made = await withAgents((each) => each, run).catch((error: unknown) => {
    throw failure ?? refusalIn(error);
  });
  if (made.interruptions.length > 0) {
    await recordInterruptions(place.recorder, made.interruptions);
    throw waitsInside(call, made.interruptions);
  }
  const answer = made.newItems.find((item) => item instanceof RunToolCallOutputItem);
  const output = toJson(answer?.output) ?? null;
  if (failure !== undefined) throw new FailedTool(output, failure);
  return output;
}

/** Returns the error for a tool whose agent waits for a person. */
function waitsInside({ name }: PendingCall, interruptions: readonly RunToolApprovalItem[]): RepriseError {
  const which = interruptions.map((item) => `"${item.name ?? 'tool'}" of "${item.agent.name}"`).join(', ');
  return new RepriseError('resume.waiting', `Cannot end "${name}": inside it, ${which} waits for a person`, {
    hint: 'Resume the agent that waits with a decision, and pass its answer on as the answer of the tool.',
  });
}

/** Returns a copy of an agent that makes one call and stops. */
function callerOf(agent: AnyAgent, call: PendingCall, watched: (tool: FunctionTool) => FunctionTool): AnyAgent {
  const copy = agent.clone({
    model: new AskingModel(call),
    instructions: '',
    handoffs: [],
    inputGuardrails: [],
    outputGuardrails: [],
    outputType: 'text',
    toolUseBehavior: 'stop_on_first_tool',
  });
  copy.getAllTools = async (...args) => {
    const tool = (await agent.getAllTools(...args)).find((each) => isFunctionNamed(each, call.name));
    return tool === undefined ? [] : [watched(originalTool(tool as FunctionTool))];
  };
  return copy;
}

/** Returns the tool of an agent or of its servers that may be called now; undefined if it has none of that name. */
export async function toolNamed(agent: AnyAgent, name: string, context: unknown): Promise<FunctionTool | undefined> {
  const own = agent.tools.find((tool) => isFunctionNamed(tool, name));
  if (own !== undefined || agent.mcpServers.length === 0) return own;
  return (await agent.getMcpTools(new RunContext(context))).find((tool) => isFunctionNamed(tool, name));
}

/** Returns true if a tool is a function of that name. */
export const isFunctionNamed = (tool: Tool, name: string): tool is FunctionTool =>
  tool.type === 'function' && tool.name === name;

/** Copies a tool without the keys under which the framework keeps its namespace: a record names tools without it. */
const withoutNamespace = (tool: FunctionTool): FunctionTool => Object.fromEntries(Object.entries(tool)) as never;

/** Returns a runner like a given one, without anything that is about a whole run: its listeners, guardrails, trace id. */
function quietRunner({ config }: Runner): Runner {
  const { traceId: _, callModelInputFilter: __, ...rest } = config;
  return new Runner({ ...rest, inputGuardrails: [], outputGuardrails: [] });
}

/** A model that asks for one call. */
class AskingModel implements Model {
  readonly #call: PendingCall;
  #isAsked = false;

  constructor(call: PendingCall) {
    this.#call = call;
  }

  async getResponse(): Promise<ModelResponse> {
    const { call, name, input } = this.#call;
    if (this.#isAsked) throw new Error(`There is no tool ${JSON.stringify(name)}`);
    this.#isAsked = true;
    const asked = { type: 'function_call', callId: call, name, arguments: textOfValue(input) } as const;
    return { usage: new Usage(), output: [{ ...asked, status: 'completed' }] };
  }

  getStreamedResponse(): never {
    throw new Error('Cannot stream one call');
  }
}
