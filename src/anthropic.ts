/** Anthropic's client, recorded, and loops over it resumed. */
export { type RecordAnthropicOptions, recordAnthropic } from './adapters/anthropic/recorded-anthropic.ts';
