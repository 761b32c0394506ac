// What users test with: the suites of a store are plain lists of cases, for any test runner; the model server says what
// its script tells it to.
export type { ContractCase, OpenStore } from './testing/contract/contract-case.ts';
export { type FormatCase, type FormatSource, formatContract } from './testing/contract/format-contract.ts';
export { storeContract } from './testing/contract/store-contract.ts';
export {
  type ModelServer,
  openModelServer,
  type ReceivedRequest,
} from './testing/model-server/model-server.ts';
export type {
  FailedReply,
  MalformedReply,
  ModelProtocol,
  ModelRule,
  ModelScript,
  OfferedTool,
  ReplyPace,
  ReplySource,
  RequestPattern,
  ScriptedReply,
  ScriptedRequest,
  ScriptedToolCall,
  SpokenReply,
} from './testing/model-server/script.ts';
export type { Sent } from './testing/model-server/sse.ts';
