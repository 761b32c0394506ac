/** The protocols of model providers: their requests and answers in the neutral form, and back. */
export { fromAnthropicMessages, toAnthropicMessages } from './protocols/anthropic-messages.ts';
export { fromChatCompletions, toChatCompletions } from './protocols/chat-completions.ts';
export { fromGeminiContent, toGeminiContent } from './protocols/gemini-content.ts';
export type {
  AnswerContext,
  FromProtocol,
  PieceKind,
  ProtocolAnswer,
  ProtocolError,
  ProtocolName,
  ProtocolRequest,
  ProtocolTool,
  StreamEvent,
  StreamFold,
  StreamOptions,
  ToProtocol,
} from './protocols/protocol.ts';
export type { ProviderPart } from './protocols/provider-fields.ts';
export { fromResponses, toResponses } from './protocols/responses.ts';
export { parseSse, sseText } from './protocols/sse.ts';
