/** Google's client of Gemini, recorded, and loops over it resumed. */
export { type RecordGeminiOptions, recordGemini } from './adapters/gemini/recorded-gemini.ts';
