import type { TestProject } from 'vitest/node';
import { type Server, startServer } from './server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

let server: Server | undefined;

/**
 * One server for the whole run; every suite makes stores of its own in it. What it acknowledges is synced as everywhere,
 * only to memory: what a disk is for is tested with servers of their own.
 */
export async function setup({ provide }: TestProject): Promise<void> {
  server = await startServer({ isInMemory: true });
  provide('postgresUrl', server.url());
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
