import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { withoutPassword } from '../../core/store/store-url.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { Session } from '../../engine/session.ts';
import { openReprise } from '../../open-reprise.ts';
import { demoAgent } from '../demo/demo-agent.ts';
import { careful, complaint } from '../demo/demo-model.ts';
import { main } from '../main.ts';
import { demoAgentName } from '../options/agent-options.ts';
import type { Output } from '../terminal/output.ts';
import { quoted } from '../typed.ts';

/** Where the story is told: on which store, and to whom. */
export interface Stage {
  readonly out: Output;
  readonly store: string;
  readonly namespace?: string;
}

/** A command of the story, and how it ended. */
export interface TypedCommand {
  readonly command: string;
  readonly code: number;
}

/** What the story leaves behind. */
export interface Told {
  readonly session: string;
  readonly branch: string;
  readonly commands: readonly TypedCommand[];
}

const branch = 'careful';

/**
 * Tells the story: an agent gets a refund wrong, and what a person types to find out why, to try something else from the
 * moment before, and to see what that changes. Every command is run with the words that are printed.
 */
export async function tellStory(stage: Stage): Promise<Told> {
  const commands: TypedCommand[] = [];
  const type = async (...words: readonly string[]): Promise<void> => void commands.push(await run(stage, words));
  const { out } = stage;

  await title(out, 1, 'An agent answers a customer, and is recorded');
  const { session, bad, asked } = await recordAgent(stage);
  await tell(
    out,
    `${out.style('green', '$')} ${out.bold(`export REPRISE_STORE=${quoted(withoutPassword(stage.store))}`)}`,
  );
  await type('list');
  await type('replay', session);
  await tell(out, 'It refunded 500, which is how much the mug holds. The customer had paid 50.');

  await title(out, 2, 'Look: what did it know at the bad call?');
  await type('show', `${session}@${bad}`);
  await tell(out, 'It was never told to look the order up. That is the bug.');

  await title(out, 3, 'Fork the moment before, with a better prompt, and let the live agent go on there');
  const why = ['--reason', 'it guessed the amount'];
  await type('fork', `${session}@${asked - 1}`, '--name', branch, '--system', careful, ...why);
  await type('resume', `${session}/${branch}`, '--with', demoAgentName);
  await tell(out, 'Nothing was copied, and main is as it was.');

  await title(out, 4, 'Say exactly what changed');
  await type('diff', session, `${session}/${branch}`);

  await title(out, 5, 'And prove that nobody touched the record');
  await type('verify', `${session}/${branch}`);
  return { session, branch, commands };
}

/** Those who asked for JSON get the end alone. */
async function tell(out: Output, text: string): Promise<void> {
  if (out.json === undefined) await out.line(text);
}

async function title(out: Output, number: number, text: string): Promise<void> {
  await tell(out, `\n${out.style(['bold', 'cyan'], `${number}  ${text}`)}`);
}

/** Runs the agent for the first time: live, over HTTP, on a session of its own. */
async function recordAgent({
  out,
  store,
  namespace,
}: Stage): Promise<{ readonly session: string; readonly bad: number; readonly asked: number }> {
  // As the commands find it: a project's configuration may name a wall.
  process.env['REPRISE_STORE'] = store;
  await using reprise = await openReprise(given({ namespace }));
  const session = await newSession(reprise);
  const prompt = { role: 'user', content: complaint } as const;
  // What this machine is called has no place in a story.
  await using recorder = await session.record({ agent: 'support', onFailure: 'fail', facts: false });
  const said = await recorder.run({ title: 'Refund of order 7' }, () => {
    recorder.message(prompt);
    const { signal } = new AbortController();
    return demoAgent({ recorder, messages: [], pending: [], prompt, model: null, system: null, signal });
  });
  await tell(out, `${out.dim('customer')}  ${complaint}\n${out.dim('agent')}     ${said}`);
  const asked = await session.find({ types: ['call.started'], kind: 'model' });
  const bad = await session.find({ types: ['call.started'], kind: 'tool' });
  if (asked === undefined || bad === undefined) throw new Error('The agent of the story did not do what it should');
  return { session: session.id, asked: asked.seq, bad: bad.seq };
}

const sessionsMax = 1_000;

/** A session under a name that is free: what is in the store already is none of our business. */
async function newSession(reprise: Reprise): Promise<Session> {
  for (let number = 1; number < sessionsMax; number++) {
    try {
      return await reprise.createSession(number === 1 ? 'refund' : `refund-${number}`);
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== 'session.exists') throw error;
    }
  }
  throw new RepriseError(
    'session.exists',
    `Cannot tell the story: ${sessionsMax} sessions "refund-…" are there already`,
    {
      hint: 'Use another store: reprise demo --store sqlite:PATH',
    },
  );
}

const program = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../bin.ts' : '../bin.js', import.meta.url));

/** Types a command: it is printed, then run. */
async function run({ out, namespace }: Stage, given: readonly string[]): Promise<TypedCommand> {
  const words = [...given, ...(namespace === undefined ? [] : ['--namespace', namespace])];
  const command = ['reprise', ...words].map((word) => doubleQuoted(word)).join(' ');
  await tell(out, `${out.style('green', '$')} ${out.bold(command)}`);
  await out.flush();
  const code = out.json === undefined ? await ran(words) : silent(words);
  // That two histories differ is what the story is about.
  if (code !== (given[0] === 'diff' ? 1 : 0))
    throw new Error(`the story went wrong at "${command}", which gave ${code}`);
  return { command, code };
}

/** What `bin` does with the words, without starting Node once more for each: a story should not be a wait. */
async function ran(words: readonly string[]): Promise<number> {
  const code = await main(words);
  // What it wrote goes out when the event loop turns.
  await new Promise((resolve) => setImmediate(resolve));
  return code;
}

/** As a process of its own, whose output nobody sees. */
function silent(words: readonly string[]): number {
  return spawnSync(process.execPath, [program, ...words], { stdio: 'ignore' }).status ?? 1;
}

const doubleQuoted = (word: string): string => (quoted(word) === word ? word : `"${word}"`);
