/** OpenAI's client, recorded, and loops over it resumed. */
export { type RecordOpenAIOptions, recordOpenAI } from './adapters/openai/recorded-openai.ts';
