/** The server of the tests as a process of its own, over its standard input and output. */
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { ordersServer } from './mcp-orders.ts';

await ordersServer().connect(new StdioServerTransport());
