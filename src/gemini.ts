/** Google's client of Gemini, recorded, and loops over it resumed. */

export type { Loop, LoopAgent, LoopContext, LoopOptions, LoopStart } from './adapters/clients/loop-agent.ts';
export { type ContentsLoop, loopAgent } from './adapters/gemini/gemini-loop.ts';
export { type RecordGeminiOptions, recordGemini } from './adapters/gemini/recorded-gemini.ts';
