#!/usr/bin/env node
import { main } from './main.ts';

// A reader that has seen enough (`| head`) and a person who presses Ctrl-C are no failures.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.on('SIGINT', () => process.exit(130));
process.exitCode = await main(process.argv.slice(2));
