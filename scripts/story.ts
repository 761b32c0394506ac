/**
 * The program of `npm start`: tells the story of `reprise demo` on a store in this repository. It leaves the store behind,
 * so that every command it printed works afterwards.
 */
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { tellStory } from '../src/cli/running/demo-story.ts';
import { Output } from '../src/cli/terminal/output.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The file of the story; in the repository if that may be written. */
function storyFile(given: string | undefined): string {
  if (given !== undefined) return given;
  try {
    accessSync(root, constants.W_OK);
    return join(root, '.reprise/demo.db');
  } catch {
    return join(mkdtempSync(join(tmpdir(), 'reprise-story-')), 'demo.db');
  }
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
await tellStory({ out, store });
await out.line(`\n${out.dim('All of it is still there. To type these commands yourself:')}`);
await out.line(`  alias reprise='npm run -s reprise --'; export REPRISE_STORE=${store}`);
await out.line(out.dim('Next: reprise --help, README.md and examples/. The agent of this story is src/cli/demo/.'));
