/**
 * What `npm start` shows: one small story, told with the commands that a person can type. It leaves its store behind, so
 * that every command it printed works afterwards.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, styleText } from 'node:util';
import { openReprise } from '../src/index.ts';
import { better, continuation, recording } from './story-events.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const say = (text = ''): void => void process.stdout.write(`${text}\n`);
const title = (number: number, text: string): void => say(`\n${styleText(['bold', 'cyan'], `${number}  ${text}`)}`);
const note = (text: string): void => say(styleText('dim', text));

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

/** Types a command: it is printed, then run as the process it would be. */
function type(store: string, words: readonly string[]): void {
  const quoted = words.map((word) => (/^[\w./@:-]+$/.test(word) ? word : `"${word}"`));
  say(`${styleText('green', '$')} ${styleText('bold', `reprise ${quoted.join(' ')}`)}`);
  const { status } = spawnSync(process.execPath, [join(root, 'src/cli/bin.ts'), ...words], {
    stdio: 'inherit',
    env: { ...process.env, REPRISE_STORE: store },
  });
  // That two histories differ is what the story is about.
  if (status !== 0 && words[0] !== 'diff') throw new Error(`The story went wrong at: reprise ${words.join(' ')}`);
}

async function tell(store: string): Promise<void> {
  title(1, 'An agent was recorded. Which one, and what did it do?');
  {
    await using reprise = await openReprise(store);
    await (await reprise.createSession('refund')).append(recording());
  }
  type(store, ['list']);
  type(store, ['replay', 'refund']);
  say('It refunded 500. The customer had paid 50.');

  title(2, 'Look: what did it know at the bad call?');
  type(store, ['show', 'refund@5']);
  say('It was never told to check. That is the bug.');

  title(3, 'Fork the moment before, with one thing changed, and go on there');
  type(store, ['fork', 'refund@2', '--name', 'careful', '--system', better, '--reason', 'it guessed the amount']);
  {
    await using reprise = await openReprise(store);
    await (await reprise.session('refund')).append(continuation(), { branch: 'careful' });
  }
  say('The agent went on from there. Nothing was copied, and main is as it was.');

  title(4, 'Say exactly what changed');
  type(store, ['diff', 'refund', 'refund/careful']);

  title(5, 'And prove that nobody touched the record');
  type(store, ['verify', 'refund/careful']);
}

const { values } = parseArgs({
  options: { file: { type: 'string' }, 'no-studio': { type: 'boolean' } },
});
const file = storyFile(values.file);
for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
const inside = relative(root, file);
const store = `sqlite:${inside.startsWith('..') ? file : inside}`;
process.chdir(root);

say(styleText('bold', 'Reprise: a time machine for AI agents') + styleText('dim', '  (one SQLite file, no network)'));
await tell(store);
say();
note('All of it is still there. To type these commands yourself:');
say(`  alias reprise='npm run -s reprise --'; export REPRISE_STORE=${store}`);
note('Next: reprise --help, README.md and examples/. This story is scripts/story.ts.');
