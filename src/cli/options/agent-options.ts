import { Option } from 'commander';
import { parseJson } from '../../core/canonical-json.ts';
import type { Budget } from '../../core/comparing/variants.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { nearest } from '../../core/nearest.ts';
import type { Agent } from '../../core/recording/agent.ts';
import { agentNamed, type Config } from '../../core/recording/config.ts';
import {
  type EffectAction,
  type EffectClass,
  type EffectPolicy,
  effectActions,
  isEffectClass,
} from '../../core/recording/effects.ts';
import type { Context } from '../context.ts';
import { collect, listOption, numberOption, type OptionValues, textOption } from '../option-values.ts';
import { amount, positiveNumber, wholeNumber } from './number-option.ts';
import { readFailure } from './read-failure.ts';

/** Creates the options of every command that runs an agent. */
export function agentOptions(): readonly Option[] {
  const options = [
    new Option('--with <agent>', 'agent from reprise.config; optional if there is only one'),
    new Option('--run <json>', "options for the framework's own run call, as JSON"),
    new Option('--timeout <seconds>', 'stop after this long').argParser(positiveNumber),
    new Option('--budget-model-calls <n>', 'stop after this many model calls').argParser(wholeNumber),
    new Option('--budget-tokens <n>', 'stop after this many tokens').argParser(wholeNumber),
    new Option('--budget-cost <usd>', 'stop after this many US dollars').argParser(amount),
    new Option(
      '--effects <policy>',
      'what to do with calls that have an effect: run, once, reuse, ask or refuse; or CLASS=… or TOOL=…, repeatable',
    ).argParser(collect),
    new Option(
      '--simulate <tool[=file]>',
      'answer this tool with the JSON of a file, or as reprise.config says, instead of calling it; repeatable',
    ).argParser(collect),
  ];
  return options.map((option) => option.helpGroup('Agent options:'));
}

/** The limits and policies of a run. */
export interface AgentLimits {
  readonly run?: unknown;
  readonly timeoutMs?: number;
  readonly budget?: Budget;
  readonly effects?: EffectPolicy;
}

/** Reads those options; a wrong one is refused before anything is opened. */
export function agentLimits(options: OptionValues): AgentLimits {
  const run = textOption(options, 'run');
  const effects = listOption(options, 'effects');
  const timeout = numberOption(options, 'timeout');
  const budget: Budget = given({
    modelCalls: numberOption(options, 'budgetModelCalls'),
    tokens: numberOption(options, 'budgetTokens'),
    costUsd: numberOption(options, 'budgetCost'),
  });
  return {
    ...(run === undefined ? {} : { run: runIn(run) }),
    ...given({
      timeoutMs: timeout === undefined ? undefined : timeout * 1000,
      budget: Object.keys(budget).length === 0 ? undefined : budget,
      effects: effects.length === 0 ? undefined : effectsIn(effects),
    }),
  };
}

function runIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    return refuse('--run', `${JSON.stringify(text)} is not JSON: ${readFailure(error)}`, `Write --run '{ … }'.`);
  }
}

/** Reads `refuse`, or one pair for each class and tool: `irreversible=refuse`, `refund=run`; `tool:unknown=run` is a tool. */
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
  const found = effectActions.find((action) => action === text);
  if (found !== undefined) return found;
  const near = nearest(text, effectActions);
  const meant = near === undefined ? '' : `Did you mean "${near}"? `;
  return refuse(
    '--effects',
    `${JSON.stringify(text)} is not an action`,
    `${meant}The actions are ${effectActions.join(', ')}.`,
  );
}

function refuse(flag: string, why: string, hint: string): never {
  throw new RepriseError('edit.invalid', `Cannot read ${flag}: ${why}`, { hint });
}

/** An agent and its name. */
export interface ChosenAgent {
  readonly name: string;
  readonly agent: Agent;
}

/** The name of the demo's agent, which runs anywhere; a project may have its own agent with that name. */
export const demoAgentName = 'demo';

/** Returns true if the agent that was named is the one of the demo. */
export function isDemoAgent(config: Config | undefined, wanted: string | undefined): boolean {
  return wanted === demoAgentName && !Object.hasOwn(config?.agents ?? {}, demoAgentName);
}

/** Returns the agent to run: the one that was named, or the only one. */
export async function chosenAgent(context: Context, wanted: string | undefined): Promise<ChosenAgent> {
  const loaded = await context.config();
  if (isDemoAgent(loaded?.config, wanted)) {
    const { demoAgent } = await import('../demo/demo-agent.ts');
    return { name: demoAgentName, agent: demoAgent };
  }
  if (loaded === undefined) {
    throw new RepriseError('agent.not-found', 'Cannot find an agent: there is no reprise.config.ts here', {
      hint: 'Create one that names your agents; "reprise config" prints an example.',
    });
  }
  const names = Object.keys(loaded.config.agents ?? {});
  const [only] = names;
  if (wanted === undefined && names.length > 1) {
    throw new RepriseError('agent.not-found', `Cannot choose an agent: there are ${names.join(', ')}`, {
      hint: `Choose one: --with ${only}`,
    });
  }
  const name = wanted ?? only ?? '';
  try {
    return { name, agent: await agentNamed(loaded.config, name, loaded.file) };
  } catch (error) {
    const near = nearest(name, names);
    if (!hasCode(error, 'agent.not-found') || near === undefined) throw error;
    const hint = `Did you mean "${near}"? ${error.hint ?? ''}`;
    throw new RepriseError(error.code, error.message, { hint, details: error.details, cause: error });
  }
}
