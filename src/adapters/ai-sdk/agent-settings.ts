import type { Agent, ToolSet } from 'ai';
import { RepriseError } from '../../core/error.ts';
import { propertiesOf } from '../../core/property.ts';
import type { ModelSettings } from './recorded-settings.ts';

/** Any agent of the AI SDK. */
export type AnyAgent = Pick<Agent<never, ToolSet>, 'version' | 'id' | 'tools'> & {
  generate(call: never): Promise<{ readonly text: string }>;
  stream(call: never): Promise<object>;
};

/** The settings that an agent was made with. */
export type AgentSettings = ModelSettings & Readonly<Record<string, unknown>>;

/** Returns true if a value is an agent of the AI SDK, rather than settings. */
export function isAgent(value: object): value is AnyAgent {
  return 'generate' in value && typeof value.generate === 'function' && 'version' in value;
}

/**
 * Returns the settings of an agent, which its class keeps in a field: the AI SDK has no other way to run an agent on a
 * different model. Throws for an agent of a different class.
 */
export function agentSettings(agent: AnyAgent): AgentSettings {
  const { settings } = propertiesOf(agent);
  if (isSettings(settings)) return settings;
  throw new RepriseError(
    'agent.invalid',
    'Cannot record the agent: it is not a ToolLoopAgent, so its model is unknown',
    {
      hint: 'Wrap its model with recordModel and its tools with recordTools, and record a run around it.',
    },
  );
}

const isSettings = (value: unknown): value is AgentSettings =>
  typeof value === 'object' && value !== null && 'model' in value;

/** Returns a copy of an agent with different settings. */
export function withSettings<A extends AnyAgent>(agent: A, settings: AgentSettings): A {
  const copy: A = Object.create(Object.getPrototypeOf(agent));
  return Object.assign(copy, agent, { settings });
}
