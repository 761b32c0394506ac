import { getCurrentSpan, getCurrentTrace, type RunContext, type run } from '@openai/agents';
import { propertiesOf } from '../../core/property.ts';

/** An agent of any context and output, as the framework's own `run` takes it. */
export type AnyAgent = Parameters<typeof run>[0];

/** The context of an agent's tools. */
export type ContextOf<TAgent extends AnyAgent> =
  Parameters<TAgent['getSystemPrompt']>[0] extends RunContext<infer TContext> ? TContext : unknown;

/**
 * Returns the name of the agent that acts now. A model does not know who asks it; the framework keeps the agent with
 * the async context, even with tracing off.
 */
export function actingAgent(): string | undefined {
  let span = getCurrentSpan();
  while (span !== null && span !== undefined) {
    const { type, name } = propertiesOf(span.spanData);
    if (type === 'agent' && typeof name === 'string') return name;
    span = span.previousSpan ?? null;
  }
  return undefined;
}

/** Returns true if the framework is running an agent here. */
export function isInsideRun(): boolean {
  return getCurrentTrace() !== null || getCurrentSpan() !== null;
}
