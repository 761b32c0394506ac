import type { TestProject } from 'vitest/node';
import { startServer } from './server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}

/** One server for the whole run; every suite makes stores of its own in it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const server = await startServer();
  provide('postgresUrl', server.url());
  return server.stop;
}
