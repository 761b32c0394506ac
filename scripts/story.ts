/**
 * Tells the story of `reprise demo` for `npm start`, on a store in this repository. The store stays, so that every
 * command that it printed works afterwards.
 */
import { accessSync, constants, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { main } from '../src/cli/main.ts';
import { tellStory } from '../src/cli/running/demo-story.ts';
import { Output } from '../src/cli/terminal/output.ts';
import { builtFolder } from '../src/node/own-package.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Returns the file of the story, in the repository if that is writable. */
function storyFile(given: string | undefined): string {
  if (given !== undefined) return given;
  try {
    accessSync(root, constants.W_OK);
    return join(root, '.reprise/demo.db');
  } catch {
    return join(mkdtempSync(join(tmpdir(), 'reprise-story-')), 'demo.db');
  }
}

/** Builds the pages of the studio in a clone that has none yet. */
async function buildStudio(out: Output): Promise<void> {
  if (existsSync(join(builtFolder('studio'), 'index.html'))) return;
  await out.line(out.dim('Building the pages of the studio. This happens once and takes some seconds.'));
  await out.flush();
  const { build } = await import('vite');
  for (const configFile of ['studio/vite.config.ts', 'studio/page.config.ts'])
    await build({ configFile: join(root, configFile), logLevel: 'error' });
}

const { values } = parseArgs({
  options: { file: { type: 'string' }, 'no-studio': { type: 'boolean' } },
});
const file = storyFile(values.file);
for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
process.chdir(root);
const inside = relative(root, file);
const store = `sqlite:${inside.startsWith('..') ? file : inside}`;

const out = new Output(undefined);
await out.line(out.bold('Reprise: a time machine for AI agents') + out.dim('  (one SQLite file, no network)'));
const { session } = await tellStory({ out, store });
await out.line(`\n${out.dim('All of it is still there. To type these commands yourself:')}`);
await out.line(`  alias reprise='npm run -s reprise --'; export REPRISE_STORE=${store}`);
await out.line(out.dim('Next: reprise --help, README.md and examples/. The agent of this story is src/cli/demo/.'));
if (values['no-studio'] !== true) {
  await out.line(`\n${out.dim('Now touch it: every point can be opened, changed and run on.')}`);
  await buildStudio(out);
  await out.flush();
  process.exitCode = await main(['studio', session, '--store', store]);
}
