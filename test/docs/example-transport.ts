/** The surroundings of the MCP examples: a client, and a transport to a server in memory that refunds. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const server = new McpServer({ name: 'orders', version: '1.0.0' });
server.registerTool('refund', { inputSchema: z.object({ order: z.number() }) }, async ({ order }) => ({
  content: [{ type: 'text', text: `Refunded order ${order}` }],
}));
const [ours, theirs] = InMemoryTransport.createLinkedPair();
await server.connect(theirs);

/** A transport that is connected to the server. */
export const transport: InMemoryTransport = ours;

/** A client that is not connected yet. */
export const client: Client = new Client({ name: 'support', version: '1.0.0' });
