import { asSchema, jsonSchema, type LanguageModel, type ModelMessage, type ToolSet } from 'ai';
import { canonicalJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { type Message, partFrom, partsOf, textOf, toolCallsIn } from '../../core/message/message.ts';
import type { ResumeContext } from '../../core/recording/agent.ts';
import type { AgentSettings } from './agent-settings.ts';
import { toModelMessages } from './model-message.ts';
import { isToolOutput } from './neutral-message.ts';
import { plainJson } from './plain-json.ts';
import { originalModel } from './recorded-model.ts';

/** Finds a model by its id in the log: a function, or a provider registry of the AI SDK. */
export type ModelSource =
  | ((id: string) => LanguageModel)
  | { readonly languageModel: (id: never) => Exclude<LanguageModel, string> };

/** Returns the settings that the branch gives and that differ from the agent's own. */
export async function branchSettings(
  own: AgentSettings,
  context: ResumeContext,
  models: ModelSource | undefined,
): Promise<AgentSettings> {
  const { model, system, tools, settings } = context;
  const instructions = own['instructions'] ?? own['system'];
  return {
    ...(settings === null ? {} : callSettings(settings)),
    ...(model === null ? {} : { model: modelOf(own.model, model, models) }),
    ...(system === null || system === instructionsText(instructions) ? {} : { instructions: system }),
    ...(tools === null ? {} : { tools: await branchTools(own.tools ?? {}, tools) }),
  };
}

function instructionsText(instructions: unknown): string | undefined {
  if (typeof instructions === 'string' || instructions === undefined) return instructions;
  const messages: readonly unknown[] = Array.isArray(instructions) ? instructions : [instructions];
  return messages.map((message) => textOf(plainJson(message))).join('\n\n');
}

function modelOf(own: LanguageModel | undefined, id: string, models: ModelSource | undefined): LanguageModel {
  const original = own === undefined ? undefined : originalModel(own);
  // The AI SDK looks up a model by its name, so it can look up any other one as well.
  if (typeof original === 'string' && models === undefined) return id;
  const ownId = typeof original === 'string' ? original : original?.modelId;
  if (original !== undefined && ownId === id) return original;
  if (typeof models === 'function') return models(id);
  if (models !== undefined) return models.languageModel(id as never);
  throw new RepriseError('model.not-found', `Cannot resume with the model "${id}": the agent only has "${ownId}"`, {
    hint: 'Let the agent find other models: aiSdkAgent(…, { models: (id) => openai(id) }).',
    details: { model: id },
  });
}

/** Returns settings as the AI SDK takes them, without the response format, which follows from the requested output. */
function callSettings({ responseFormat: _format, toolChoice, ...rest }: JsonObject): JsonObject {
  if (toolChoice === undefined) return rest;
  const isPlain = isObject(toolChoice) && toolChoice['type'] !== 'tool';
  return { ...rest, toolChoice: isPlain ? (toolChoice['type'] ?? 'auto') : toolChoice };
}

/** Returns the tools that the branch names: the agent's own, with the changes of the branch. */
async function branchTools(own: ToolSet, definitions: readonly JsonValue[]): Promise<ToolSet> {
  const tools: ToolSet = {};
  for (const definition of definitions) {
    if (!isObject(definition) || typeof definition['name'] !== 'string') continue;
    const { name } = definition;
    const tool = own[name];
    if (tool !== undefined && (await isUnchanged(tool, definition))) tools[name] = tool;
    else if (definition['type'] !== 'provider')
      tools[name] = { ...tool, ...definedTool(definition) } as ToolSet[string];
  }
  return tools;
}

async function isUnchanged(tool: ToolSet[string], definition: JsonObject): Promise<boolean> {
  if (definition['type'] === 'provider') return true;
  const schema = plainJson(await asSchema(tool.inputSchema).jsonSchema);
  const { description, inputSchema = schema } = definition;
  const isSaid = typeof tool.description === 'function' || (tool.description ?? null) === (description ?? null);
  return isSaid && canonicalJson(schema) === canonicalJson(inputSchema);
}

function definedTool({ description, inputSchema }: JsonObject): object {
  return {
    ...(typeof description === 'string' ? { description } : {}),
    ...(isObject(inputSchema) ? { inputSchema: jsonSchema(inputSchema) } : {}),
  };
}

/** Returns the conversation as the AI SDK takes it, with the prompt last. */
export async function resumedMessages(context: ResumeContext, tools: ToolSet): Promise<ModelMessage[]> {
  const { messages, prompt } = context;
  const shaped = await shapedResults(messages, tools);
  return toModelMessages(prompt === undefined ? shaped : [...shaped, prompt]);
}

/**
 * Shapes the results that no model has seen yet by their tools. The record has the output of a tool, and its shaped
 * form only once a model got it.
 */
async function shapedResults(messages: readonly Message[], tools: ToolSet): Promise<Message[]> {
  const asked = messages.findLastIndex(({ role }) => role === 'assistant');
  const calls = new Map(toolCallsIn(messages[asked] ?? null).map((part) => [part.toolCallId, part.input]));
  const shape = async (part: JsonObject): Promise<JsonObject> => {
    const { type, toolCallId, toolName, output = null, isError } = part;
    const tool = typeof toolName === 'string' ? tools[toolName] : undefined;
    if (type !== 'tool-result' || tool?.toModelOutput === undefined || isError === true || isToolOutput(output))
      return part;
    const id = String(toolCallId);
    return { ...part, output: plainJson(await tool.toModelOutput({ toolCallId: id, input: calls.get(id), output })) };
  };
  return Promise.all(
    messages.map(async (message, index) => {
      if (index <= asked || message.role !== 'tool') return message;
      const shapedParts = await Promise.all(partsOf(message).map(shape));
      return { ...message, content: shapedParts.map(partFrom) };
    }),
  );
}
