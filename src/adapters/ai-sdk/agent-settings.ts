import type { Agent, ToolSet } from 'ai';
import { RepriseError } from '../../core/error.ts';
import type { ModelSettings } from './recorded-settings.ts';

/** An agent of any kind of the AI SDK. */
export type AnyAgent = Pick<Agent<never, ToolSet>, 'version' | 'id' | 'tools'> & {
  readonly generate: unknown;
  readonly stream: unknown;
};

/** The settings an agent was made with. */
export type AgentSettings = ModelSettings & Readonly<Record<string, unknown>>;

/** Whether a value is an agent of the AI SDK, rather than settings. */
export function isAgent(value: object): value is AnyAgent {
  return 'generate' in value && typeof value.generate === 'function' && 'version' in value;
}

/**
 * The settings of an agent. The AI SDK has no other way to run an agent on another model, and its own class keeps them
 * in a field; one of another class is refused.
 */
export function agentSettings(agent: AnyAgent): AgentSettings {
  const { settings } = agent as { readonly settings?: unknown };
  if (typeof settings === 'object' && settings !== null && 'model' in settings) return settings as AgentSettings;
  throw new RepriseError(
    'agent.invalid',
    'Cannot record the agent: it is no ToolLoopAgent, and its model is not known',
    {
      hint: 'Give its model through recordModel and its tools through recordTools, and record a run around it',
    },
  );
}

/** The same agent with other settings. */
export function withSettings<A extends AnyAgent>(agent: A, settings: AgentSettings): A {
  const copy = Object.create(Object.getPrototypeOf(agent) as object) as A;
  return Object.assign(copy, agent, { settings });
}
