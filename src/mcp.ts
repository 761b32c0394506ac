// Connections of the Model Context Protocol, recorded.
export { type RecordTransportOptions, recordTransport } from './adapters/mcp/recorded-transport.ts';
