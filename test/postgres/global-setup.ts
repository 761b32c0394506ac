import type { TestProject } from 'vitest/node';
import { type Server, startServer } from './server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

let server: Server | undefined;

/**
 * One server for the whole run; every suite makes stores of its own in it. It syncs as every server does, but to memory:
 * tests about a disk start a server of their own.
 */
export async function setup({ provide }: TestProject): Promise<void> {
  server = await startServer({ isInMemory: true });
  provide('postgresUrl', server.url());
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
