/** The client that the examples of Anthropic find: its model says hello, whatever it is asked. */
import Anthropic from '@anthropic-ai/sdk';

const answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hello!' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 2 },
};

/** A client of Anthropic. */
export const client: Anthropic = new Anthropic({ apiKey: 'none', fetch: async () => Response.json(answer) });
