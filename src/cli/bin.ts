#!/usr/bin/env node
import { main } from './main.ts';

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
