/**
 * Runs one command after the other in one process, because loading the code takes longer than most commands do. The
 * parent (`warm-process.ts`) sends the words; the output goes to the real streams, and a mark says where it ends.
 */
import { main } from '../../../src/cli/main.ts';
import { writeAnswer } from '../../../src/cli/terminal/stdout.ts';
import type { WarmRequest } from './warm-process.ts';

// The program of the package (`bin.ts`) keeps such warnings from people; its own tests start a process of their own.
process.removeAllListeners('warning');

process.on('message', (request: WarmRequest) => void answer(request));
process.on('disconnect', () => process.exit());

async function answer({ words, folder, env, mark }: WarmRequest): Promise<void> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(folder);
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...words);
  const code = await main(words);
  // A command writes the rest of its output at the latest when the event loop turns.
  await new Promise((resolve) => setImmediate(resolve));
  writeAnswer(`${mark}${String(code)}\n`);
  process.stderr.write(`${mark}${String(code)}\n`);
}
