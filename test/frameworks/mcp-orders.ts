/** A server of the Model Context Protocol for the tests: orders that can be looked up and refunded. */
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** The requests that really reached the server. */
export const done: string[] = [];

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

/** A new server. */
export function ordersServer(): McpServer {
  const server = new McpServer({ name: 'orders', version: '1.0.0' });
  server.registerTool(
    'lookup',
    { description: 'Looks up', inputSchema: z.object({ order: z.number() }), annotations: { readOnlyHint: true } },
    async ({ order }) => {
      done.push(`lookup ${order}`);
      return text(`Order ${order} cost 50`);
    },
  );
  server.registerTool(
    'refund',
    { description: 'Refunds', inputSchema: z.object({ order: z.number() }), annotations: { destructiveHint: true } },
    async ({ order }) => {
      done.push(`refund ${order}`);
      return order === 0 ? { ...text('No such order'), isError: true } : text(`Refunded ${order}`);
    },
  );
  server.registerTool(
    'slow',
    { description: 'Tells how far it is', inputSchema: z.object({}) },
    async (_input, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (let progress = 1; progress <= 3; progress++)
        if (progressToken !== undefined)
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
      return text('done');
    },
  );
  server.registerTool(
    'forever',
    { description: 'Ends only when it is cancelled', inputSchema: z.object({}) },
    (_input, { mcpReq }) =>
      new Promise((resolve) => {
        done.push('forever begun');
        mcpReq.signal.addEventListener('abort', () => {
          done.push('forever cancelled');
          resolve(text('cancelled'));
        });
      }),
  );
  server.registerTool(
    'opinion',
    { description: 'Asks the client for its model', inputSchema: z.object({}) },
    async (_input, { mcpReq }) => {
      const params = {
        messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'What do you think?' } }],
        maxTokens: 10,
      };
      const answer = await mcpReq.requestSampling(params);
      return text(JSON.stringify(answer.content));
    },
  );
  server.registerResource('manual', 'docs://manual', { title: 'Manual' }, async (uri) => ({
    contents: [{ uri: uri.href, text: 'Be kind.' }],
  }));
  server.registerPrompt('greet', { argsSchema: z.object({ who: z.string() }) }, ({ who }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who}` } }],
  }));
  return server;
}
