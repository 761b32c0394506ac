/** The surroundings of the OpenAI Agents examples: an agent, and a runner whose model needs no network. */
import { Agent, type Model, Runner, setTracingDisabled, Usage } from '@openai/agents';

setTracingDisabled(true);

const model: Model = {
  getResponse: async () => ({
    usage: new Usage({ inputTokens: 12, outputTokens: 3, totalTokens: 15 }),
    output: [
      { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hello.' }] },
    ],
  }),
  // No example streams.
  getStreamedResponse: async function* () {},
};

/** Says "Hello." to everything. */
export const provider = { getModel: (): Model => model };

/** A runner whose model says "Hello." to everything. */
export const runner: Runner = new Runner({ modelProvider: provider });

/** An agent. */
export const support: Agent = new Agent({ name: 'support', instructions: 'Help the customer.', model: 'small-1' });
