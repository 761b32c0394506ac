import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { defaultAgent } from '../../core/event/state-key.ts';
import type { State, StateReader } from '../../engine/state/state.ts';
import type { OpenRef } from '../../reading/open-ref.ts';
import type { Context } from '../context.ts';
import { type OptionValues, textOption } from '../option-values.ts';
import { quoted } from '../typed.ts';
import { wholeNumber } from './number-option.ts';

/** The option that selects whose state is meant. */
export const agentOption: Option = new Option('--agent <agent>', 'agent that owns the state').default('default');

/** The options that select whose state is meant, and at which point. */
export const stateOptions: readonly Option[] = [
  agentOption,
  new Option('--at <at>', 'point on the branch: a seq, turn:N, time:ISO …; the same as REF@at'),
];

/** The options of commands that list state. */
export const stateListOptions: readonly Option[] = [
  ...stateOptions,
  new Option('--limit <n>', 'print at most this many').argParser(wholeNumber),
];

/** A ref that was looked up, and the state of an agent there. */
export interface OpenState extends OpenRef {
  readonly state: StateReader;
}

/** Looks up a ref with its `--at`, and the state there. */
export async function stateAtRef(context: Context, text: string, options: OptionValues): Promise<OpenState> {
  const at = textOption(options, 'at');
  if (at !== undefined && text.includes('@')) {
    throw new RepriseError('ref.invalid', `Cannot use ${JSON.stringify(text)} with --at: both name a point`, {
      hint: 'Use only one of them.',
    });
  }
  const found = await context.at(at === undefined ? text : `${text}@${at.replace(/^@/, '')}`);
  return { ...found, state: found.session.at(found.point).state.as(agentOf(options)) };
}

/** Returns the state of the selected agent, on the branch of a ref. */
export function handleOf({ session, ref }: OpenRef, options: OptionValues): State {
  return session.branch(ref.branch).state.as(agentOf(options));
}

/** Returns the selected agent. */
export function agentOf(options: OptionValues): string {
  return textOption(options, 'agent') ?? defaultAgent;
}

/** Returns the option that makes the next command use the same agent. */
export function forAgent({ agent }: StateReader): string {
  return agent === defaultAgent ? '' : ` --agent ${quoted(agent)}`;
}
