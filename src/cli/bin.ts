#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

const leftOpenMs = 1000;

// Most of the time of a short command is reading its own code: the second time it is read compiled.
enableCompileCache();
const { main } = await import('./main.ts');

// A configuration in a project that does not say "type": "module" is read twice. Who looks at a history need not hear it.
const printed = process.listeners('warning');
process.removeAllListeners('warning').on('warning', (warning: Error & { readonly code?: string }) => {
  if (warning.code !== 'MODULE_TYPELESS_PACKAGE_JSON') for (const print of printed) print(warning);
});

// A reader that has seen enough (`| head`) and a person who presses Ctrl-C are no failures, and need no words.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
    throw error;
  });
}
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.exitCode = await main(process.argv.slice(2));
// What an agent of the configuration left open (a server, a pool, a child) would keep the program alive for ever. It has a
// moment to finish by itself; the timer alone keeps nothing alive.
setTimeout(() => process.exit(), leftOpenMs).unref();
