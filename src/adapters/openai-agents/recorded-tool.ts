import type { FunctionTool, RunContext } from '@openai/agents';
import { given, isObject, type JsonValue } from '../../core/json.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import { agreedEffect, type EffectClass } from '../../core/recording/effects.ts';
import { Originals } from '../../core/recording/originals.ts';
import type { CallStart, OpenCall, Recorder, ReusedAnswer } from '../../core/recording/recorder.ts';
import { type AgentCopying, runTool } from './inner-agents.ts';
import { toJson, valueOfText } from './provider-fields.ts';
import { rememberAnswer } from './recording-memory.ts';
import { isTimeout, textSent } from './tool-failure.ts';

/** The agent that has a tool, and the declared effect class. */
export interface ToolContext {
  readonly recorder: Recorder;
  readonly agent: string;
  readonly effect: EffectClass | undefined;
  /** Copies the agents that run inside the tool. */
  readonly inner: AgentCopying;
}

type Details = Parameters<FunctionTool['invoke']>[2];

/** The effect class of a tool, and where it records; a copy that does not record keeps the class. */
interface ToolFacts {
  readonly recorder?: Recorder;
  readonly effect: EffectClass | undefined;
}

const originals = new Originals<object, ToolFacts>();

/** Returns the tool behind one that records; any other tool as it is. */
export function originalTool<T extends object>(tool: T): T {
  return originals.of(tool);
}

/** Returns the effect class that a tool was recorded with; undefined if it has none. */
export function recordedEffect(tool: object): EffectClass | undefined {
  return originals.factsOf(tool)?.effect;
}

/**
 * Returns a copy of a function tool that records its invocations; one that already records elsewhere is unwrapped
 * first, and keeps the effect class that it had there.
 */
export function recordTool<T extends FunctionTool<never>>(given: T, declared: ToolContext): T {
  const { recorder } = declared;
  const facts = originals.factsOf(given);
  const effect = agreedEffect(declared.effect, facts?.effect);
  if (facts?.recorder === recorder && facts.effect === effect) return given;
  const tool = originals.of(given);
  const context = { ...declared, effect };
  const invoke = async (runContext: RunContext<never>, input: string, details?: Details): Promise<unknown> => {
    const start = startOf(tool, { input, details, context });
    const here = recorderHere(recorder);
    const call = await here.startCall(start);
    if (call.answer !== undefined) return reused(call.answer);
    return invoked(call, {
      tool,
      details,
      context,
      recorder: here,
      invoke: () => tool.invoke(runContext, input, details),
    });
  };
  const copy = copyOfTool(tool);
  Object.defineProperty(copy, 'invoke', { value: invoke, enumerable: true, configurable: true, writable: true });
  return originals.remember(copy, tool, { recorder, effect });
}

/**
 * Copies a tool with everything the framework keeps on it, even what is not enumerable. The copy of a tool that records
 * does not record, and keeps the effect class.
 */
export function copyOfTool<T extends object>(tool: T): T {
  const copy = Object.defineProperties({} as T, Object.getOwnPropertyDescriptors(originals.of(tool)));
  return originals.remember(copy, copy, { effect: recordedEffect(tool) });
}

interface Invocation {
  readonly input: string;
  readonly details: Details;
  readonly context: ToolContext;
}

interface Invoked {
  readonly tool: object;
  readonly recorder: Recorder;
  readonly invoke: () => Promise<unknown>;
}

function startOf(tool: { readonly name: string }, { input, details, context }: Invocation): CallStart {
  const { agent, effect } = context;
  const call = details?.toolCall?.callId;
  return {
    kind: 'tool',
    name: tool.name,
    agent,
    input: valueOfText(input),
    ...given({ call, effect }),
  };
}

/**
 * Invokes a tool and records its end. Only the first end counts: a tool that continues after its time limit has ended.
 */
async function invoked(
  call: OpenCall,
  { tool, details, context, recorder, invoke }: Omit<Invocation, 'input'> & Invoked,
): Promise<unknown> {
  const signal = details?.signal;
  const giveUp = (): void => {
    const reason: unknown = signal?.reason;
    call.end({ outcome: isTimeout(reason) ? 'error' : 'aborted', error: reason });
  };
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    const { result, error, isWaiting } = await call.within(() => runTool(tool, context.inner, invoke));
    if (isWaiting) {
      call.end({ outcome: 'waiting' });
      return result;
    }
    const output = toJson(result);
    const answer = { text: textSent(result), output: output ?? null, isError: error !== undefined };
    rememberAnswer(recorder, call.call, answer);
    call.end(given({ output, error }));
    return result;
  } catch (error) {
    call.end({ error });
    throw error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Returns the recorded output of a tool, or throws how it failed. */
function reused(answer: ReusedAnswer): JsonValue {
  if (answer.outcome === 'ok' || answer.output !== undefined) return answer.output ?? null;
  const message = isObject(answer.error) ? answer.error['message'] : undefined;
  throw new Error(typeof message === 'string' ? message : 'The recorded call failed');
}
