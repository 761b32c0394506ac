import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, Runner } from '@openai/agents';
import { propertiesOf } from '../../core/property.ts';
import type { AnyAgent } from './acting-agent.ts';
import { withFailure } from './tool-failure.ts';

/**
 * Returns the copy of an agent that records; the agent itself if it is not to be recorded here. `isFramework` says
 * whether the framework runs it, not the program.
 */
export type AgentCopying = (agent: AnyAgent, isFramework: boolean) => AnyAgent;

/** A tool that runs, seen from inside. */
interface Inside {
  readonly copying: (agent: AnyAgent) => AnyAgent;
  /** Whether an agent in the tool stopped to wait for a person. */
  isWaiting: boolean;
}

const inside = new AsyncLocalStorage<Inside>();
let isWatching = false;

/** The end of a tool: its result, its error if it failed, and whether it stopped to wait for a person. */
interface ToolEnd<T> {
  readonly result: T;
  readonly error: Error | undefined;
  readonly isWaiting: boolean;
}

/**
 * Runs a tool. Agents that run inside it offer the tools and handoffs of their recorded copies. A tool that `asTool()`
 * made keeps its agent to itself, so this watches the methods with which any agent is run; outside of recorded tools the
 * methods are as they were.
 */
export async function runTool<T>(tool: object, copying: AgentCopying, body: () => Promise<T>): Promise<ToolEnd<T>> {
  const isAgent = isAgentTool(tool);
  const held: Inside = { copying: (agent) => copying(agent, isAgent), isWaiting: false };
  const ended = await within(held, () => withFailure(body));
  // The framework waits with a tool that `asTool()` made; any other tool has its own answer.
  return { ...ended, isWaiting: held.isWaiting && isAgent };
}

/** Runs a body whose agents offer the tools and handoffs of their recorded copies. */
export function withAgents<T>(copying: Inside['copying'], body: () => T): T {
  return within({ copying, isWaiting: false }, body);
}

function within<T>(held: Inside, body: () => T): T {
  if (!isWatching) {
    isWatching = true;
    watchOffers('getAllTools');
    watchOffers('getEnabledHandoffs');
    watchRuns();
  }
  return inside.run(held, body);
}

/** Returns true if `asTool()` made a tool: only then it tells the events of its agent. */
const isAgentTool = (tool: object): boolean => typeof propertiesOf(tool)['on'] === 'function';

type Method = (...args: unknown[]) => unknown;

/** Replaces a method of all objects of a class. */
function replace(prototype: object, name: string, by: (self: object, args: unknown[], own: Method) => unknown): void {
  const own = propertiesOf(prototype)[name] as Method;
  const value = function (this: object, ...args: unknown[]): unknown {
    return by(this, args, own);
  };
  Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
}

function watchOffers(name: 'getAllTools' | 'getEnabledHandoffs'): void {
  replace(Agent.prototype, name, (self, args, own) => {
    const agent = inside.getStore()?.copying(self as AnyAgent) ?? self;
    return Reflect.apply(agent === self ? own : (propertiesOf(agent)[name] as Method), agent, args);
  });
}

function watchRuns(): void {
  replace(Runner.prototype, 'run', async (self, args, own) => {
    const result: unknown = await Reflect.apply(own, self, args);
    const held = inside.getStore();
    if (held === undefined) return result;
    const note = (): void => {
      const { interruptions } = propertiesOf(result);
      held.isWaiting ||= Array.isArray(interruptions) && interruptions.length > 0;
    };
    const { completed } = propertiesOf(result);
    if (completed instanceof Promise) void completed.then(note, () => undefined);
    else note();
    return result;
  });
}
