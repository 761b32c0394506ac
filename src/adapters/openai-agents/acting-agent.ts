import { getCurrentSpan, getCurrentTrace, type RunContext, type run } from '@openai/agents';
import { propertiesOf } from '../../core/property.ts';

/** An agent of any context and output: what the framework's own `run` takes. */
export type AnyAgent = Parameters<typeof run>[0];

/** What an agent's tools get as their context. */
export type ContextOf<TAgent extends AnyAgent> =
  Parameters<TAgent['getSystemPrompt']>[0] extends RunContext<infer TContext> ? TContext : unknown;

/**
 * The name of the agent that acts now. A model is not told who asks it; the framework notes it beside the async context,
 * also when its own tracing is switched off.
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

/** Whether the framework is running an agent here. */
export function isInsideRun(): boolean {
  return getCurrentTrace() !== null || getCurrentSpan() !== null;
}
