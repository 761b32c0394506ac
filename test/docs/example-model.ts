/** The model that the examples of the AI SDK find: it says hello, whatever it is asked. */
import { MockLanguageModelV4 } from 'ai/test';

/** A model of the AI SDK. */
export const model: MockLanguageModelV4 = new MockLanguageModelV4({
  modelId: 'hello-1',
  doGenerate: {
    content: [{ type: 'text', text: 'Hello!' }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 2, text: 2, reasoning: 0 },
    },
    warnings: [],
  },
});
