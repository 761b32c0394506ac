import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import { msBetween } from '../../core/time.ts';
import { type CodingTarget, recordCoding } from './record-coding.ts';

/** A command to run. */
export interface CommandInput {
  /** The words of the command. */
  readonly command: readonly string[];
  /** The run it belongs to; the open one if left out. */
  readonly run?: string;
}

/** How a command ended. */
export interface CommandEnd {
  /** The exit code; null if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal?: string;
  /** The end of what it printed. */
  readonly output?: string;
}

/** A command that was started and has to be ended. */
export interface OpenCommand {
  /** The id of its call, for `testRun`. */
  readonly call: string;
  /** The run it belongs to; undefined if it is in none. */
  readonly run: string | undefined;
  /** Records the end. */
  end(end: CommandEnd): Promise<Event>;
}

const commandKeys: KnownKeys = optionKeys<CommandInput>(
  'record a command',
  { command: 'list', run: 'text' },
  'a command',
);
const endKeys: KnownKeys = optionKeys<CommandEnd>(
  'record the end of a command',
  { exitCode: true, signal: 'text', output: 'text' },
  'the end of a command',
);

/** Records that a command starts, as a call of kind `process`: its start is stored before this resolves. */
export async function startCommand(target: CodingTarget, asked: CommandInput): Promise<OpenCommand> {
  checkKeys(asked, commandKeys);
  const { command, run } = asked;
  const [name] = Array.isArray(command) ? command : [];
  if (name === undefined || command.some((word) => typeof word !== 'string'))
    throw new RepriseError('option.invalid', 'Cannot record a command: it has no words', {
      hint: "Pass its words: command: ['npm', 'test'].",
    });
  const call = target.engine.platform.newId();
  const about = { call, kind: 'process', name };
  const started = await recordCoding(
    target,
    { type: 'call.started', data: { ...about, effect: 'unknown', input: { command: [...command] } } },
    { run },
  );
  const end = async (ended: CommandEnd): Promise<Event> => {
    checkKeys(ended, endKeys);
    const { exitCode, signal, output } = ended;
    if (exitCode !== null && !Number.isSafeInteger(exitCode))
      throw new RepriseError(
        'option.invalid',
        `Cannot record the end of a command: its exit code is ${shownValue(exitCode)}`,
        { hint: 'Give a whole number, or null if a signal ended the command.' },
      );
    const shown = output === undefined ? undefined : output.slice(-limits.errorTextMax).toWellFormed();
    const data = {
      ...about,
      outcome: exitCode === null ? 'interrupted' : exitCode === 0 ? 'ok' : 'error',
      output: given({ exitCode, signal, text: shown }),
      latencyMs: msBetween(started.time, target.engine.platform.now()),
    };
    return recordCoding(target, { type: 'call.ended', cause: started.id, data }, { run: started.run });
  };
  return { call, run: started.run, end };
}
