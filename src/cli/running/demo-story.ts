import { spawnSync } from 'node:child_process';
import { hasCode, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { withoutPassword } from '../../core/store/store-url.ts';
import type { Reprise } from '../../engine/reprise.ts';
import type { Session } from '../../engine/session.ts';
import { ownProgram } from '../../node/own-package.ts';
import { openReprise } from '../../open-reprise.ts';
import { demoAgent } from '../demo/demo-agent.ts';
import { careful, complaint } from '../demo/demo-model.ts';
import { main } from '../main.ts';
import { demoAgentName } from '../options/agent-options.ts';
import type { Output } from '../terminal/output.ts';
import { quoted } from '../typed.ts';

/** Where the story runs: its store and its output. */
export interface Stage {
  readonly out: Output;
  readonly store: string;
  readonly namespace?: string;
}

/** A command of the story, and its exit code. */
interface TypedCommand {
  readonly command: string;
  readonly code: number;
}

/** The session and branch of a finished story, and its commands. */
export interface Story {
  readonly session: string;
  readonly branch: string;
  readonly commands: readonly TypedCommand[];
}

const branch = 'careful';

/**
 * Tells the story of an agent that gets a refund wrong: what a person types to find out why, to try a better prompt from
 * the moment before, and to see what that changes. Every command is run exactly as it is printed.
 */
export async function tellStory(stage: Stage): Promise<Story> {
  const commands: TypedCommand[] = [];
  const type = async (...words: readonly string[]): Promise<void> => void commands.push(await run(stage, words));
  const { out } = stage;

  await title(out, 1, 'Record: an agent answers a customer');
  const { session, bad, asked } = await recordAgent(stage);
  await tell(
    out,
    `${out.style('green', '$')} ${out.bold(`export REPRISE_STORE=${quoted(withoutPassword(stage.store))}`)}`,
  );
  await type('list');
  await type('replay', session);
  await tell(out, 'The agent refunded 500, which is the size of the mug. The customer had paid 50.');

  await title(out, 2, 'Look: what did the agent know at the bad call?');
  await type('show', `${session}@${bad}`);
  await tell(out, 'Its prompt never says to look up the order. That is the bug.');

  await title(out, 3, 'Fork: go back to just before the call, fix the prompt, and continue live');
  const why = ['--reason', 'it guessed the amount'];
  await type('fork', `${session}@${asked - 1}`, '--name', branch, '--system', careful, ...why);
  await tell(out, 'A what-if must not pay anybody money, so the refund is simulated.');
  await type('resume', `${session}/${branch}`, '--with', demoAgentName, '--simulate', 'refund');
  await tell(out, 'Nothing was copied, main is unchanged, and nothing was paid.');

  await title(out, 4, 'Diff: see exactly what changed');
  await type('diff', session, `${session}/${branch}`);

  await title(out, 5, 'Verify: prove that the record is intact');
  await type('verify', `${session}/${branch}`);
  return { session, branch, commands };
}

/** Prints text, unless JSON was asked for: then only the result is printed. */
async function tell(out: Output, text: string): Promise<void> {
  if (out.json === undefined) await out.line(text);
}

async function title(out: Output, number: number, text: string): Promise<void> {
  await tell(out, `\n${out.style(['bold', 'cyan'], `${number}  ${text}`)}`);
}

/** Runs the agent for the first time: live, over HTTP, in a new session. */
async function recordAgent({
  out,
  store,
  namespace,
}: Stage): Promise<{ readonly session: string; readonly bad: number; readonly asked: number }> {
  // Open the store as the commands do: a project's configuration may set a namespace.
  process.env['REPRISE_STORE'] = store;
  await using reprise = await openReprise(given({ namespace }));
  const session = await newSession(reprise);
  const prompt = { role: 'user', content: complaint } as const;
  // The facts of this machine do not belong in a story.
  await using recorder = await session.record({ agent: 'support', onFailure: 'fail', facts: false });
  const said = await recorder.run({ title: 'Refund of order 7' }, () => {
    recorder.message(prompt);
    const { signal } = new AbortController();
    return demoAgent({ recorder, messages: [], pending: [], prompt, model: null, system: null, signal });
  });
  await tell(out, `${out.dim('customer')}  ${complaint}\n${out.dim('agent')}     ${said}`);
  const asked = await (await session.find({ types: ['call.started'], kind: 'model' }))?.locate();
  const bad = await (await session.find({ types: ['call.started'], kind: 'tool' }))?.locate();
  if (asked === undefined || bad === undefined) throw new Error('The agent of the demo did not do what it should');
  return { session: session.id, asked: asked.seq, bad: bad.seq };
}

const sessionsMax = 1_000;

/** Creates a session with a free name, and leaves existing ones alone. */
async function newSession(reprise: Reprise): Promise<Session> {
  for (let number = 1; number < sessionsMax; number++) {
    try {
      return await reprise.createSession(number === 1 ? 'refund' : `refund-${number}`);
    } catch (error) {
      if (!hasCode(error, 'session.exists')) throw error;
    }
  }
  throw new RepriseError(
    'session.exists',
    `Cannot run the demo: the store already has ${sessionsMax} sessions "refund-…"`,
    {
      hint: 'Use a different store: reprise demo --store sqlite:PATH',
    },
  );
}

/** Prints a command, then runs it. */
async function run({ out, namespace }: Stage, given: readonly string[]): Promise<TypedCommand> {
  const words = [...given, ...(namespace === undefined ? [] : ['--namespace', namespace])];
  const command = ['reprise', ...words].map((word) => doubleQuoted(word)).join(' ');
  await tell(out, `${out.style('green', '$')} ${out.bold(command)}`);
  await out.flush();
  const code = out.json === undefined ? await ran(words) : silent(words);
  // The diff of the story must find a difference.
  if (code !== (given[0] === 'diff' ? 1 : 0)) throw new Error(`the demo went wrong: "${command}" exited with ${code}`);
  return { command, code };
}

/** Runs a command in this process, as `bin` would: starting Node for each would take too long. */
async function ran(words: readonly string[]): Promise<number> {
  const code = await main(words);
  // Its output is written when the event loop turns.
  await new Promise((resolve) => setImmediate(resolve));
  return code;
}

/** Runs a command in a new process and drops its output. */
function silent(words: readonly string[]): number {
  return spawnSync(process.execPath, [ownProgram(), ...words], { stdio: 'ignore' }).status ?? 1;
}

const doubleQuoted = (word: string): string => (quoted(word) === word ? word : `"${word}"`);
