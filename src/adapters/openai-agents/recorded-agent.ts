import { getHandoff, getTransferMessage } from '@openai/agents';
import { given } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkDeclared, type EffectClass } from '../../core/recording/effects.ts';
import { Originals } from '../../core/recording/originals.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { AnyAgent } from './acting-agent.ts';
import { valueOfText } from './provider-fields.ts';
import { packages, recordModel } from './recorded-model.ts';
import { recordTool } from './recorded-tool.ts';
import { lastCallOf } from './recording-memory.ts';

type AnyHandoff = Exclude<AnyAgent['handoffs'][number], AnyAgent>;

/** How the tools of an agent are recorded. */
export interface RecordAgentOptions {
  /** What tools do to the world, by name; `unknown` where nothing is said. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
}

const recordKeys: KnownKeys = optionKeys<RecordAgentOptions>('record the agent', { effects: true }, 'a recording');

/**
 * A copy of an agent, and of all it can hand off to, whose tools, handoffs and own models are recorded. The agents that
 * were given stay as they are; their listeners hear the copies. Handoffs are recorded as the tool calls they are.
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
  recorder.uses(...packages);
  return copyOf(originalAgent(agent), { recorder, options, copies: new Map() }) as TAgent;
}

const originals = new Originals<AnyAgent>();

/** Returns the agent behind one that records; any other agent as it is. */
export function originalAgent(agent: AnyAgent): AnyAgent {
  return originals.of(agent);
}

interface Copying {
  readonly recorder: Recorder;
  readonly options: RecordAgentOptions;
  /** Agents may hand off in circles. */
  readonly copies: Map<AnyAgent, AnyAgent>;
}

function copyOf(agent: AnyAgent, copying: Copying): AnyAgent {
  const known = copying.copies.get(agent);
  if (known !== undefined) return known;
  const { recorder } = copying;
  const model = typeof agent.model === 'string' ? agent.model : recordModel(agent.model, recorder);
  const tools = agent.tools.map((tool) => recordedTool(tool, agent.name, copying));
  const copy = agent.clone({ model, handoffs: [], ...ownTools(agent, tools) });
  copying.copies.set(agent, copy);
  copying.copies.set(copy, copy);
  originals.remember(copy, agent, undefined);
  copy.handoffs = agent.handoffs.map((entry) => recordedHandoff(getHandoff(entry), agent.name, copying));
  copy.emit = agent.emit.bind(agent);
  const getMcpTools = agent.getMcpTools.bind(agent);
  copy.getMcpTools = async (...args) =>
    (await getMcpTools(...args)).map((tool) => recordedTool(tool, agent.name, copying));
  return copy;
}

/** An agent without tools of its own takes those of its prompt; giving it an empty list would say that it has none. */
function ownTools<T>(agent: AnyAgent, tools: T[]): { tools: T[] } {
  return { tools: agent.hasExplicitToolConfig() ? tools : (undefined as unknown as T[]) };
}

function recordedTool<T extends { readonly type: string; readonly name: string }>(
  tool: T,
  agent: string,
  { recorder, options }: Copying,
): T {
  if (tool.type !== 'function') return tool;
  const { effects = {} } = options;
  const effect = Object.hasOwn(effects, tool.name) ? effects[tool.name] : undefined;
  return recordTool(tool as never, { recorder, agent, effect });
}

/** A handoff changes nothing but who acts, so it is pure. */
function recordedHandoff(handoff: AnyHandoff, agent: string, copying: Copying): AnyHandoff {
  const { recorder } = copying;
  return handoff.clone({
    agent: copyOf(handoff.agent, copying),
    onInvokeHandoff: async (context, args) => {
      const name = handoff.toolName;
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
}
