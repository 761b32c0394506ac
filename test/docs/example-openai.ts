/** The client that the examples of OpenAI find: its model says hello, whatever it is asked. */
import OpenAI from 'openai';

const message = { role: 'assistant', content: 'Hello!', refusal: null };
const answer = { id: 'chatcmpl-1', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };

/** A client of OpenAI. */
export const client: OpenAI = new OpenAI({ apiKey: 'none', fetch: async () => Response.json(answer) });
