import * as nodeModule from 'node:module';

const leftOpenMs = 1000;

// A short command spends most of its time loading code; the compile cache speeds up every run but the first. Deno lacks
// it, and refuses a program that imports it by name.
const { enableCompileCache }: Partial<typeof nodeModule> = nodeModule;
enableCompileCache?.();
const { main } = await import('./main.ts');

// Node parses a configuration twice in a project without "type": "module", and warns; Node 22 warns about its SQLite,
// which the tests prove there. The user cannot act on either here.
const printed = process.listeners('warning');
process.removeAllListeners('warning').on('warning', (warning: Error & { readonly code?: string }) => {
  const isKnown =
    warning.code === 'MODULE_TYPELESS_PACKAGE_JSON' || warning.message.startsWith('SQLite is an experimental');
  if (!isKnown) for (const print of printed) print(warning);
});

// A reader that stops early (`| head`) and Ctrl-C are not failures: end silently.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
    throw error;
  });
}
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.exitCode = await main(process.argv.slice(2));
// An agent may leave a server, a pool or a child process open, which would keep the program alive forever. Give it a
// moment to close by itself; the timer itself keeps nothing alive.
setTimeout(() => process.exit(), leftOpenMs).unref();
