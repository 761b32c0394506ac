import {
  getDefaultModel,
  getHandoff,
  getTransferMessage,
  type Model,
  type ModelSettings,
  RunContext,
} from '@openai/agents';
import { RepriseError } from '../../core/error.ts';
import { isObject, type JsonArray, type JsonObject, type JsonValue } from '../../core/json.ts';
import { toolCallsIn, toolResultsIn } from '../../core/message/message.ts';
import type { BranchSettings, Floor, PendingCall, ResumeContext } from '../../core/recording/agent.ts';
import type { AnyAgent } from './acting-agent.ts';
import { requestSettings } from './model-call.ts';
import { type CallPlace, isFunctionNamed, makeCall, toolNamed } from './pending-call.ts';
import { nameOfModel } from './recorded-model.ts';
import { copyOfTool } from './recorded-tool.ts';

/**
 * Returns the agent that continues: the one that has the floor, or the one it has handed off to since its last model
 * call. Handoffs of earlier runs do not count. A name that no reachable agent has is that of a different program.
 */
export function actingAfter(agent: AnyAgent, { floor, messages }: Pick<ResumeContext, 'floor' | 'messages'>): AnyAgent {
  const answered = new Set(messages.flatMap((message) => toolResultsIn(message).map((part) => part.toolCallId)));
  let acting = reachableAgents(agent).find(({ name }) => name === floor.agent) ?? agent;
  for (const message of messages.slice(floor.from)) {
    // The framework takes the first of several handoffs.
    const calls = toolCallsIn(message).filter((part) => answered.has(part.toolCallId));
    const next = calls.map((part) => handoffOf(acting, part.toolName)).find((handoff) => handoff !== undefined);
    if (next !== undefined) acting = next.agent;
  }
  return acting;
}

/** Returns true if an agent that acts was handed off to by the one that had the floor. */
export function hasHandedOff(agent: AnyAgent, acting: AnyAgent, floor: Floor): boolean {
  return acting.name !== floor.agent && reachableAgents(agent).some(({ name }) => name === floor.agent);
}

/** Returns an agent and all agents that it can hand off to, even by way of others. */
export function reachableAgents(agent: AnyAgent): readonly AnyAgent[] {
  const found = new Set([agent]);
  for (const each of found) for (const entry of each.handoffs) found.add(getHandoff(entry).agent);
  return [...found];
}

function handoffOf(agent: AnyAgent, toolName: string): ReturnType<typeof getHandoff> | undefined {
  return agent.handoffs.map((entry) => getHandoff(entry)).find((handoff) => handoff.toolName === toolName);
}

/** Returns a copy of an agent with the settings of the branch; `ownModel` is the name of the agent's own model. */
export function agentAsBranchSays(agent: AnyAgent, context: BranchSettings, ownModel: string): AnyAgent {
  const { model, system, tools, settings } = context;
  const changes = {
    ...(model === null || model === ownModel ? {} : { model }),
    ...(system === null ? {} : { instructions: system }),
    ...(settings === null ? {} : { modelSettings: { ...agent.modelSettings, ...ownSettings(settings) } }),
    ...(tools === null ? {} : toolsAsTold(agent, tools)),
  };
  if (Object.keys(changes).length === 0) return agent;
  const copy = agent.clone(changes);
  copy.emit = agent.emit.bind(agent);
  return copy;
}

/** Returns the name under which an agent's own model is recorded. */
export function ownModelName(agent: AnyAgent, fallback: string | Model | undefined): string {
  const model = agent.model === '' ? (fallback ?? '') : agent.model;
  if (typeof model !== 'string') return nameOfModel(model);
  return model === '' ? getDefaultModel() : model;
}

/**
 * Returns the model settings for the framework. Data for the provider stays the agent's own: its recorded form may be
 * masked.
 */
function ownSettings(settings: JsonObject): ModelSettings {
  const left = new Set<string>([...requestSettings, 'providerData', 'retry']);
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !left.has(name)));
}

/** Returns the agent's tools and handoffs that the branch names, with the branch's descriptions. */
function toolsAsTold(agent: AnyAgent, told: JsonArray): Pick<AnyAgent, 'tools' | 'handoffs'> {
  const definitions = new Map(told.filter(isObject).map((tool) => [String(tool['name']), tool]));
  const known = new Set([...agent.tools.map(({ name }) => name), ...handoffNames(agent)]);
  const missing = [...definitions.keys()].find((name) => !known.has(name));
  if (missing !== undefined && agent.mcpServers.length === 0) {
    throw new RepriseError(
      'agent.invalid',
      `Cannot resume with the tool "${missing}": the agent "${agent.name}" has no tool of that name`,
      { hint: 'Give the agent a tool of that name, or leave it out of the edit.' },
    );
  }
  const tools = agent.tools
    .filter(({ name }) => definitions.has(name))
    .map((tool) => (tool.type === 'function' ? describedTool(tool, definitions.get(tool.name) ?? {}) : tool));
  const handoffs = agent.handoffs.filter((entry) => definitions.has(getHandoff(entry).toolName));
  return { tools, handoffs };
}

function handoffNames(agent: AnyAgent): readonly string[] {
  return agent.handoffs.map((entry) => getHandoff(entry).toolName);
}

function describedTool<T extends object>(tool: T, definition: JsonObject): T {
  const copy = copyOfTool(tool);
  for (const key of ['description', 'parameters', 'strict']) {
    const value = definition[key];
    if (value !== undefined)
      Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

/** Executes one tool of an agent without recording it; undefined if it has none of that name. */
export function callToolOf(agent: AnyAgent, call: PendingCall, place: CallPlace): Promise<JsonValue> | undefined {
  const handoff = handoffOf(agent, call.name);
  // The next agent is read from the history, so the answer alone is enough.
  if (handoff !== undefined) return Promise.resolve(getTransferMessage(handoff.agent));
  const isKnown = agent.mcpServers.length > 0 || agent.tools.some((tool) => isFunctionNamed(tool, call.name));
  return isKnown ? makeCall(agent, call, place) : undefined;
}

/** Returns true if a person has to approve a call. */
export async function approvalNeeded(
  agent: AnyAgent,
  call: PendingCall,
  context: unknown,
): Promise<'needed' | undefined> {
  const tool = await toolNamed(agent, call.name, context);
  if (tool === undefined) return undefined;
  // The input has the type of the tool, which is not known here.
  const asked: readonly unknown[] = [new RunContext(context), call.input, call.call];
  const isNeeded: unknown = await Reflect.apply(tool.needsApproval, tool, asked);
  return isNeeded === true ? 'needed' : undefined;
}
