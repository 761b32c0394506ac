// MCP: record what a client asks its server, see effects by annotations, and answer a repeated call from the record.
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { openReprise, type Recorder } from 'reprise';
import { recordTransport } from 'reprise/mcp';
import { z } from 'zod';

let refunds = 0;
const orders = (): McpServer => {
  const server = new McpServer({ name: 'orders', version: '1.0.0' });
  const inputSchema = z.object({ order: z.number() });
  server.registerTool('lookup', { inputSchema, annotations: { readOnlyHint: true } }, async ({ order }) => ({
    content: [{ type: 'text', text: `Order ${order} cost 50` }],
  }));
  server.registerTool('refund', { inputSchema, annotations: { destructiveHint: true } }, async ({ order }) => {
    refunds++;
    return { content: [{ type: 'text', text: `Refunded order ${order}` }] };
  });
  return server;
};

/** An agent of a few lines: it looks an order up and refunds it. */
const refundOrder = async (recorder: Recorder): Promise<string> => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await orders().connect(theirs);
  const client = new Client({ name: 'support', version: '1.0.0' });
  await client.connect(recordTransport(ours, recorder));
  await client.listTools();
  await client.callTool({ name: 'lookup', arguments: { order: 7 } });
  const { content } = await client.callTool({ name: 'refund', arguments: { order: 7 } });
  await client.close();
  return JSON.stringify(content);
};

await using reprise = await openReprise('memory:');
const session = await reprise.createSession('orders');
const recorder = await session.record({ agent: 'support' });
recorder.message({ role: 'user', content: 'Order 7 broke. Refund it.' });
await recorder.run({ title: 'Refund' }, () => refundOrder(recorder));
await recorder.close();
for await (const { seq, data } of session.replay({ filter: { types: ['call.started'] } }))
  console.log(seq, data['name'], data['effect']);

// The same again, on a branch. An irreversible call is not repeated: it is refused, or answered from the record.
const again = await session.fork('main@1', { name: 'again' });
const agent = ({ recorder: own }: { readonly recorder: Recorder }) => refundOrder(own);
await again.resume(agent).catch((error: Error) => console.log(`\n${error.message}`));
const { text, reused } = await again.resume(agent, { effects: 'reuse' });
console.log(`\n${text}\nanswered from the record: ${reused}, refunds made: ${refunds}`);
