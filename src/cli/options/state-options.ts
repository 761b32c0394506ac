import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { defaultAgent } from '../../core/event/state-key.ts';
import type { StateHandle } from '../../engine/state/state-handle.ts';
import type { Context, Found } from '../context.ts';
import { quoted } from '../typed.ts';
import { wholeNumber } from './number-option.ts';

/** Whose state it is. */
export const agentOption: Option = new Option('--agent <agent>', 'whose state it is').default('default');

/** Where to look, and for whom. */
export const stateOptions: readonly Option[] = [
  agentOption,
  new Option('--at <at>', 'at a point of the branch: a seq, turn:N, time:ISO …; the same as REF@at'),
];

/** As {@link stateOptions}, for what there may be many of. */
export const stateListOptions: readonly Option[] = [
  ...stateOptions,
  new Option('--limit <n>', 'so many at most').argParser(wholeNumber),
];

/** A place that was found, and the state that is meant there. */
export interface FoundState extends Found {
  readonly state: StateHandle;
}

/** Reads a ref with its `--at` and gives the state there. */
export async function stateAtRef(
  context: Context,
  text: string,
  options: Readonly<Record<string, unknown>>,
): Promise<FoundState> {
  const { at } = options as { readonly at?: string };
  if (at !== undefined && text.includes('@')) {
    throw new RepriseError('ref.invalid', `Cannot use ${JSON.stringify(text)} with --at: both name a point`, {
      hint: 'Give one of them.',
    });
  }
  const found = await context.at(at === undefined ? text : `${text}@${at.replace(/^@/, '')}`);
  return { ...found, state: handleOf(found, options) };
}

/** The state of the agent that is meant, on the branch of a ref. */
export function handleOf({ session, ref }: Found, options: Readonly<Record<string, unknown>>): StateHandle {
  return session.state.on(ref.branch).as(agentOf(options));
}

/** The agent that is meant. */
export function agentOf(options: Readonly<Record<string, unknown>>): string {
  return String(options['agent'] ?? defaultAgent);
}

/** What a command has to say to go on with the same agent. */
export function forAgent({ agent }: StateHandle): string {
  return agent === defaultAgent ? '' : ` --agent ${quoted(agent)}`;
}
