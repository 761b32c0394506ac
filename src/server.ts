// A server: one history for many machines.

export { type ServeOptions, type Server, serve } from './serve-store.ts';
export { type MadeToken, makeToken, type NewToken } from './server/guarding/access-tokens.ts';
export type { Right } from './server/guarding/grant.ts';
export type { LogLine, WriteLog } from './server/http/log-line.ts';
