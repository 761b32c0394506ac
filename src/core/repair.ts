/**
 * What was mended in a history before it was handed to a provider that would refuse it, by the name of the rule:
 * - `call-without-result`: a tool call nobody answered was taken out of its message;
 * - `result-without-call`: a tool's answer to a call that is not there was taken out;
 * - `foreign-reasoning`: reasoning that only the model that wrote it can read was taken out;
 * - `empty-message`: a message with nothing left in it was taken out;
 * - `erased-message`: a message whose payload was erased was left out;
 * - `prompt-once`: the trailing user message is the prompt and is not also part of the history.
 */
export type RepairRule =
  | 'call-without-result'
  | 'result-without-call'
  | 'foreign-reasoning'
  | 'empty-message'
  | 'erased-message'
  | 'prompt-once';

/** One thing that was mended. */
export interface Repair {
  readonly rule: RepairRule;
  /** The event that made the message. */
  readonly seq: number;
  /** What was taken out, in words, such as `the call c7 of "refund"`. */
  readonly what: string;
}
