import { given, isArray, isObject, type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';
import {
  type Message,
  type MessagePart,
  partsOf,
  type ToolResultPart,
  textOf,
  toolResultsIn,
} from '../../core/message/message.ts';
import type { FromProtocol, ProtocolAnswer, ProtocolRequest, ToProtocol } from '../../protocols/protocol.ts';
import type { SpokenAnswer } from './model-answer.ts';
import type { ModelProtocol, OfferedTool, ScriptedRequest } from './script.ts';

/** One protocol of the server: the converters, and what a provider writes around an answer. */
export interface Protocol {
  readonly name: ModelProtocol;
  readonly from: FromProtocol;
  readonly to: ToProtocol;
  /** How the path ends, for people. */
  readonly place: string;
  /** Returns true if a path is this protocol's. */
  matches(path: string): boolean;
  /** Reads a request, and what it only names. */
  read(body: JsonObject, path: string): ProtocolRequest;
  /** Puts ids and the like around an answer. */
  answer(spoken: SpokenAnswer, request: ScriptedRequest): ProtocolAnswer;
  /** The provider's word for the kind of error that goes with a status. */
  errorType(status: number): string;
}

/** A request as scripts see it. */
export function scriptedRequest(
  protocol: ModelProtocol,
  body: JsonObject,
  { model, stream, system, messages: all, tools, settings }: ProtocolRequest,
): ScriptedRequest {
  const told = [system ?? '', ...all.filter(isSystem).map((message) => textOf(message))];
  const messages = all.filter((message) => !isSystem(message)).map(plainMessage);
  const users = messages.filter(({ role }) => role === 'user');
  const spoke = messages.findLastIndex(({ role }) => role === 'assistant');
  return {
    protocol,
    model,
    system: told.filter((text) => text !== '').join('\n'),
    messages,
    tools: (tools ?? []).map(offeredTool),
    settings: settings ?? {},
    stream: stream === true,
    prompt: textOf(users.at(-1) ?? { role: 'user', content: '' }),
    turn: users.length,
    results: messages.slice(spoke + 1).flatMap((message) => toolResultsIn(message)),
    body,
  };
}

const isSystem = ({ role }: Message): boolean => role === 'system';

/** A message without what its protocol keeps in addition; one that is only text has it as its content. */
function plainMessage(message: Message): Message {
  const parts = partsOf(message).map(plainPart);
  const [only, second] = parts;
  return { role: message.role, content: only?.type === 'text' && second === undefined ? only.text : parts };
}

function plainPart(part: MessagePart): MessagePart {
  const { providerOptions: _, ...plain } = part as MessagePart & { readonly providerOptions?: JsonValue };
  return plain.type === 'tool-result' ? plainResult(plain) : plain;
}

/** Scripts see the text that was sent, however the protocol wraps it. */
function plainResult(part: ToolResultPart): ToolResultPart {
  const { output } = part;
  const [key] = isObject(output) ? Object.keys(output) : [];
  const isWrapped = isObject(output) && Object.keys(output).length === 1 && (key === 'output' || key === 'error');
  return { ...part, output: textOfOutput(isWrapped ? (output[key ?? ''] ?? '') : output) };
}

function textOfOutput(output: JsonValue): string {
  if (typeof output === 'string') return output;
  const isTexts = isArray(output) && output.every((piece) => stringAt(piece, 'text') !== undefined);
  return isTexts ? output.map((piece) => stringAt(piece, 'text')).join('') : JSON.stringify(output);
}

function offeredTool(tool: JsonValue): OfferedTool & JsonObject {
  const inputSchema = isObject(tool) ? tool['inputSchema'] : undefined;
  return {
    name: stringAt(tool, 'name') ?? '',
    ...given({ description: stringAt(tool, 'description'), inputSchema }),
  };
}
