import { Option } from 'commander';
import { parseJson } from '../../core/canonical-json.ts';
import type { Budget } from '../../core/comparing/variants.ts';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { nearest } from '../../core/nearest.ts';
import type { Agent } from '../../core/recording/agent.ts';
import { agentNamed } from '../../core/recording/config.ts';
import { type EffectAction, type EffectClass, type EffectPolicy, isEffectClass } from '../../core/recording/effects.ts';
import type { Context } from '../context.ts';
import { collect } from './edit-options.ts';
import { amount, positiveNumber, wholeNumber } from './number-option.ts';

/** The options of everything that runs an agent. */
export function agentOptions(): readonly Option[] {
  const options = [
    new Option('--with <name>', 'the agent of reprise.config; may be left out if there is only one'),
    new Option('--run <json>', "what the framework's own run call is given, as JSON"),
    new Option('--timeout <seconds>', 'how long it may take').argParser(positiveNumber),
    new Option('--budget-model-calls <n>', 'how many model calls it may make').argParser(wholeNumber),
    new Option('--budget-tokens <n>', 'how many tokens it may use').argParser(wholeNumber),
    new Option('--budget-cost <usd>', 'how many US dollars it may cost').argParser(amount),
    new Option(
      '--effects <policy>',
      'what becomes of calls made before: reuse, run, ask, refuse; or CLASS=…, TOOL=…, again for each',
    ).argParser(collect),
  ];
  return options.map((option) => option.helpGroup('The agent:'));
}

/** What those options ask for. */
export interface AgentLimits {
  readonly run?: unknown;
  readonly timeoutMs?: number;
  readonly budget?: Budget;
  readonly effects?: EffectPolicy;
}

/** Reads the options; what is wrong with them is told before anything is opened. */
export function agentLimits(options: Readonly<Record<string, unknown>>): AgentLimits {
  const number = (name: string): number | undefined => options[name] as number | undefined;
  const { run, effects } = options as { readonly run?: string; readonly effects?: readonly string[] };
  const timeout = number('timeout');
  const [modelCalls, tokens, costUsd] = [number('budgetModelCalls'), number('budgetTokens'), number('budgetCost')];
  const budget = {
    ...given({ modelCalls, tokens, costUsd }),
  };
  return {
    ...(run === undefined ? {} : { run: runIn(run) }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
    ...(effects === undefined ? {} : { effects: effectsIn(effects) }),
  };
}

function runIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    return refuse('--run', `${JSON.stringify(text)} is not JSON: ${(error as Error).message}`, `Write --run '{ … }'.`);
  }
}

const actions: readonly string[] = ['reuse', 'run', 'ask', 'refuse'] satisfies readonly EffectAction[];

/** `refuse`, or one word for each class and tool: `irreversible=refuse`, `refund=run`; `tool:unknown=run` is a tool. */
function effectsIn(words: readonly string[]): EffectPolicy {
  const [first = ''] = words;
  if (words.length === 1 && !first.includes('=')) return actionIn(first);
  const classes: Partial<Record<EffectClass, EffectAction>> = {};
  const names: Record<string, EffectAction> = {};
  for (const word of words) {
    const at = word.lastIndexOf('=');
    if (at <= 0) refuse('--effects', `${JSON.stringify(word)} is not NAME=ACTION`, 'Write --effects refund=refuse.');
    const [name, action] = [word.slice(0, at), actionIn(word.slice(at + 1))];
    if (isEffectClass(name)) classes[name] = action;
    else names[name.replace(/^tool:/, '')] = action;
  }
  return { classes, names };
}

function actionIn(text: string): EffectAction {
  if (actions.includes(text)) return text as EffectAction;
  const near = nearest(text, actions);
  const meant = near === undefined ? '' : `Did you mean "${near}"? `;
  return refuse('--effects', `${JSON.stringify(text)} is not an action`, `${meant}Actions: ${actions.join(', ')}.`);
}

function refuse(flag: string, why: string, hint: string): never {
  throw new RepriseError('edit.invalid', `Cannot read ${flag}: ${why}`, { hint });
}

/** An agent and what it is called. */
export interface ChosenAgent {
  readonly name: string;
  readonly agent: Agent;
}

/** The agent of `reprise demo`, which runs anywhere; a project may have one of its own by that name. */
export const demoAgentName = 'demo';

/** The agent that is to run: the one that is named, or the only one there is. */
export async function chosenAgent(context: Context, wanted: string | undefined): Promise<ChosenAgent> {
  const loaded = await context.config();
  if (wanted === demoAgentName && !Object.hasOwn(loaded?.config.agents ?? {}, wanted)) {
    const { demoAgent } = await import('../demo/demo-agent.ts');
    return { name: wanted, agent: demoAgent };
  }
  if (loaded === undefined) {
    throw new RepriseError('agent.not-found', 'Cannot find an agent: there is no reprise.config.ts here', {
      hint: 'Write one that names your agents; "reprise config" shows one to begin with.',
    });
  }
  const names = Object.keys(loaded.config.agents ?? {});
  const [only] = names;
  if (wanted === undefined && names.length > 1) {
    throw new RepriseError('agent.not-found', `Cannot choose an agent: there are ${names.join(', ')}`, {
      hint: `Name one: --with ${only}.`,
    });
  }
  const name = wanted ?? only ?? '';
  try {
    return { name, agent: await agentNamed(loaded.config, name, loaded.file) };
  } catch (error) {
    const near = nearest(name, names);
    if (!(error instanceof RepriseError) || error.code !== 'agent.not-found' || near === undefined) throw error;
    const hint = `Did you mean "${near}"? ${error.hint ?? ''}`;
    throw new RepriseError(error.code, error.message, { hint, details: error.details, cause: error });
  }
}
