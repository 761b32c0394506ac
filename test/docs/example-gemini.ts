/** The client that the examples of Gemini find: its model says hello, whatever it is asked. */
import { GoogleGenAI } from '@google/genai';

const answer = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello!' }] }, finishReason: 'STOP' }] };

/** A client of Google. */
export const client: GoogleGenAI = new GoogleGenAI({
  apiKey: 'none',
  httpOptions: { fetch: async () => Response.json(answer) },
});
