import { getHandoff, getTransferMessage, type RunState } from '@openai/agents';
import { given } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import { agreedEffects, checkDeclared, declaredEffect, type EffectClass } from '../../core/recording/effects.ts';
import { Originals } from '../../core/recording/originals.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { AnyAgent } from './acting-agent.ts';
import { type AgentCopying, withAgents } from './inner-agents.ts';
import { valueOfText } from './provider-fields.ts';
import { packages, recordModel } from './recorded-model.ts';
import { recordTool } from './recorded-tool.ts';
import { lastCallOf } from './recording-memory.ts';

type AnyHandoff = Exclude<AnyAgent['handoffs'][number], AnyAgent>;

/** How to record the tools of an agent. */
export interface RecordAgentOptions {
  /** The effect class of each tool by name; `unknown` if left out. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
}

const recordKeys: KnownKeys = optionKeys<RecordAgentOptions>('record the agent', { effects: true }, 'a recording');

/**
 * Returns a copy of an agent, and of all agents it can hand off to, that records its tools, handoffs and own models.
 * The given agents stay as they are, and their listeners hear the copies. Handoffs are recorded as tool calls.
 *
 * @example
 * ```ts
 * await using recorder = await session.record();
 * const agent = recordAgent(support, recorder, { effects: { refund: 'irreversible' } });
 * const { finalOutput } = await runner.run(agent, 'Order 7 broke.');
 * ```
 */
export function recordAgent<TAgent extends AnyAgent>(
  agent: TAgent,
  recorder: Recorder,
  options: RecordAgentOptions = {},
): TAgent {
  checkDeclared(options, recordKeys);
  const effects = agreedEffects(options.effects, recordedEffects(agent));
  return recordedCopy(originalAgent(agent), recorder, { options: { effects }, changed: (each) => each }) as TAgent;
}

/** Returns a copy of an agent that records, made of changed versions of it and of all agents it can hand off to. */
export function recordedCopy(agent: AnyAgent, recorder: Recorder, how: HowToCopy): AnyAgent {
  return copyOf(agent, newCopying(recorder, how));
}

/**
 * Runs a body that continues from a state, so that its agents record. A state that was stored has the program's own
 * agents and tools, and any other state those of the run that it is from.
 */
export function withRecordedState<T>(
  state: RunState<unknown, AnyAgent>,
  recorder: Recorder,
  how: HowToCopy,
  body: () => T,
): T {
  const copying = newCopying(recorder, how);
  const { name } = state._currentAgent;
  const { functions = [], handoffs = [] } = state._lastProcessedResponse ?? {};
  for (const bound of functions) bound.tool = recordedTool(bound.tool, name, copying);
  for (const bound of handoffs) bound.handoff = recordedHandoff(bound.handoff, name, copying);
  return withAgents((agent) => copying.inner(agent, true), body);
}

/** Returns the function that copies agents inside tools so that they record. */
export function agentCopying(recorder: Recorder, how: HowToCopy): AgentCopying {
  return newCopying(recorder, how).inner;
}

function newCopying(recorder: Recorder, how: HowToCopy): Copying {
  recorder.uses(...packages);
  const copying: Copying = {
    recorder,
    ...how,
    copies: new Map(),
    inner: (agent, isFramework) => innerCopy(agent, isFramework, copying),
  };
  return copying;
}

/**
 * Returns the recorded copy of an agent inside a tool. An agent that already records elsewhere does so on purpose if the
 * program runs it; if the framework does, it runs here, with the effect classes that it was given before.
 */
function innerCopy(agent: AnyAgent, isFramework: boolean, copying: Copying): AnyAgent {
  const facts = originals.factsOf(agent);
  if (facts === undefined) return copyOf(agent, copying);
  if (!isFramework || facts.recorder === copying.recorder) return agent;
  const effects = agreedEffects(copying.options.effects, facts.effects);
  return copyOf(originalAgent(agent), { ...copying, options: { effects } });
}

/** The agents that record, with where they record and the effect classes of their tools. */
const originals = new Originals<AnyAgent, RecordAgentOptions & { readonly recorder: Recorder }>();

/** Returns the agent behind one that records; any other agent as it is. */
export function originalAgent(agent: AnyAgent): AnyAgent {
  return originals.of(agent);
}

/** Returns the effect classes that an agent was recorded with; undefined if it does not record. */
export function recordedEffects(agent: AnyAgent): RecordAgentOptions['effects'] {
  return originals.factsOf(agent)?.effects;
}

/** How to copy agents. */
export interface HowToCopy {
  readonly options: RecordAgentOptions;
  /** Returns an agent with the settings it is to run with. */
  readonly changed: (agent: AnyAgent) => AnyAgent;
}

interface Copying extends HowToCopy {
  readonly recorder: Recorder;
  /** Copies the agents that run inside tools. */
  readonly inner: AgentCopying;
  /** Agents may hand off in circles. */
  readonly copies: Map<AnyAgent, AnyAgent>;
}

function copyOf(original: AnyAgent, copying: Copying): AnyAgent {
  const known = copying.copies.get(original);
  if (known !== undefined) return known;
  const { recorder } = copying;
  const agent = copying.changed(original);
  const model = typeof agent.model === 'string' ? agent.model : recordModel(agent.model, recorder);
  const tools = agent.tools.map((tool) => recordedTool(tool, agent.name, copying));
  const copy = agent.clone({ model, handoffs: [], ...ownTools(agent, tools) });
  copying.copies.set(original, copy);
  copying.copies.set(copy, copy);
  originals.remember(copy, original, { recorder, ...copying.options });
  copy.handoffs = agent.handoffs.map((entry) => recordedHandoff(getHandoff(entry), agent.name, copying));
  copy.emit = agent.emit.bind(agent);
  const getMcpTools = agent.getMcpTools.bind(agent);
  copy.getMcpTools = async (...args) =>
    (await getMcpTools(...args)).map((tool) => recordedTool(tool, agent.name, copying));
  return copy;
}

/**
 * Returns the tools of a copy; none for an agent that takes the tools of its prompt, because an empty list would mean
 * no tools.
 */
function ownTools<T>(agent: AnyAgent, tools: T[]): { tools: T[] } {
  return { tools: agent.hasExplicitToolConfig() ? tools : (undefined as unknown as T[]) };
}

function recordedTool<T extends { readonly type: string; readonly name: string }>(
  tool: T,
  agent: string,
  { recorder, options, inner }: Copying,
): T {
  if (tool.type !== 'function') return tool;
  const effect = declaredEffect(options.effects, tool.name);
  return recordTool(tool as never, { recorder, agent, effect, inner });
}

const originalHandoffs = new Originals<AnyHandoff, Recorder>();

/** Returns a handoff that is recorded, as a pure call: it only changes who acts. */
function recordedHandoff(offered: AnyHandoff, agent: string, copying: Copying): AnyHandoff {
  if (originalHandoffs.factsOf(offered) === copying.recorder) return offered;
  const handoff = originalHandoffs.of(offered);
  const copy = handoff.clone({
    agent: copyOf(handoff.agent, copying),
    onInvokeHandoff: async (context, args) => {
      const name = handoff.toolName;
      const recorder = recorderHere(copying.recorder);
      const call = await recorder.startCall({
        kind: 'tool',
        name,
        agent,
        effect: 'pure',
        input: args === '' ? {} : valueOfText(args),
        ...given({ call: lastCallOf(recorder, { agent, name }) }),
      });
      if (call.answer !== undefined) return copyOf(handoff.agent, copying);
      try {
        const next = await call.within(() => handoff.onInvokeHandoff(context, args));
        call.end({ output: getTransferMessage(next) });
        return copyOf(next, copying);
      } catch (error) {
        call.end({ error });
        throw error;
      }
    },
  });
  return originalHandoffs.remember(copy, handoff, copying.recorder);
}
