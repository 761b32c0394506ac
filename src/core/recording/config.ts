import { hasCode, RepriseError } from '../error.ts';
import { checkId } from '../id.ts';
import { given } from '../json.ts';
import { checkMasking, type MaskingOptions } from '../masking/masking-options.ts';
import type { Agent } from './agent.ts';
import { checkFormat, type ForeignFormat } from './foreign-format.ts';
import { checkPrices, type PriceTable } from './prices.ts';
import { checkSimulation, type Simulation } from './simulation.ts';

/**
 * An agent that a project can start: one made by an adapter, a function of the context, or a function without
 * parameters that makes one of these when it is needed. With the last one, commands that only look load nothing. Each
 * agent has its own run options and result, which only its callers know.
 */
export type ConfigAgent = Agent<never, unknown> | (() => Promise<Agent<never, unknown>>);

/** A fleet that a project can run forward: the functions of its agents by name, or one function for the whole fleet. */
export type ConfigFleet = ((turn: never) => unknown) | Readonly<Record<string, (turn: never) => unknown>>;

/** The configuration of a project: the default export of `reprise.config.ts`. */
export interface Config {
  /** A store URL; a path in it is relative to the folder of the file. `.reprise/reprise.db` if left out. */
  readonly store?: string;
  /** The namespace of that store; `default` if left out. */
  readonly namespace?: string;
  /** The agents that can be started, by the name that `--with` takes. */
  readonly agents?: Readonly<Record<string, ConfigAgent>>;
  /** The fleets that `reprise forward` can run, by name: one function for each agent, or one for all of them. */
  readonly fleets?: Readonly<Record<string, ConfigFleet>>;
  /**
   * Simulated answers of tools, by name: experiments use them instead of calls that have an effect, and `resume` and
   * `retry` do with `--simulate NAME`.
   */
  readonly simulate?: Readonly<Record<string, Simulation['simulate']>>;
  /** Judges of experiments, by the name that `--judge` takes. */
  readonly judges?: Readonly<Record<string, (...asked: never) => unknown>>;
  /** Prices of models; they go before the known ones. */
  readonly prices?: PriceTable;
  /** Formats of saved runs, in addition to the known ones; of two with one name, this one is used. */
  readonly formats?: readonly ForeignFormat[];
  /** More masking rules than the built-in ones; `false` masks nothing. */
  readonly masking?: MaskingOptions | false;
}

/**
 * Returns a configuration as it is, with its types checked. Use it for the default export of `reprise.config.ts`.
 *
 * @example
 * ```ts
 * const config = defineConfig({
 *   store: 'sqlite:.reprise/reprise.db',
 *   agents: { support: async ({ prompt }) => `You asked: ${prompt?.content}` },
 *   simulate: { refund: (input, recorded) => recorded?.output ?? { refunded: true } },
 *   prices: { 'house-model': { input: 0.2, output: 0.8 } },
 *   masking: { rules: [{ name: 'order-number', pattern: /\bORD-\d{6}\b/ }] },
 * });
 * ```
 */
export function defineConfig(config: Config): Config {
  return config;
}

const fields: Readonly<Record<keyof Config, (value: unknown, path: string) => void>> = {
  store: checkText,
  namespace: (value) => checkId('namespace', value),
  agents: checkAgents,
  fleets: checkFleets,
  simulate: checkSimulations,
  judges: checkJudges,
  prices: checkPrices,
  formats: checkFormats,
  masking: (value) => {
    if (value !== false) checkMasking(value);
  },
};

const checks: ReadonlyMap<string, (value: unknown, path: string) => void> = new Map(Object.entries(fields));

/** Takes a value as a configuration, or throws `config.invalid` with the file and the field. */
export function checkConfig(value: unknown, file: string): Config {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RepriseError(
      'config.invalid',
      `Cannot use ${JSON.stringify(file)}: its default export is not an object`,
      {
        hint: 'Write: export default defineConfig({ … }).',
        details: { file },
      },
    );
  }
  for (const [name, held] of Object.entries(value)) {
    const check = checks.get(name);
    if (check === undefined)
      refuseField(file, name, { why: 'there is no such field', hint: `Fields: ${Object.keys(fields).join(', ')}.` });
    else if (held !== undefined) checkField(file, name, () => check(held, name));
  }
  return value;
}

/** Runs a check and adds the file to its error. */
function checkField(file: string, name: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    const why = error.message.replace(/^Cannot [^:]*: /, '');
    const field = error.details['field'];
    refuseField(file, typeof field === 'string' ? field : name, { why, hint: error.hint, cause: error });
  }
}

interface Refusal {
  readonly why: string;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

function refuseField(file: string, field: string, { why, hint, cause }: Refusal): never {
  throw new RepriseError('config.invalid', `Cannot use "${field}" of ${JSON.stringify(file)}: ${why}`, {
    ...given({ hint }),
    details: { file, field },
    cause,
  });
}

function refuse(field: string, why: string, hint: string): never {
  throw new RepriseError('config.invalid', `Cannot use "${field}": ${why}`, { hint, details: { field } });
}

function checkText(value: unknown, path: string): void {
  if (typeof value !== 'string' || value === '')
    refuse(path, 'it is not a string', 'Write sqlite:PATH, postgres://… or memory:.');
}

function checkFormats(value: unknown, path: string): void {
  if (!Array.isArray(value)) refuse(path, 'it is not a list', 'Write formats: [defineFormat({ … })].');
  for (const format of value) checkFormat(format);
}

const agentHint =
  'Use a function of the context, an agent made by an adapter, or a function without parameters that returns one.';

function checkAgents(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(path, 'it is not an object of agents', 'Write agents: { name: agent }.');
  for (const [name, agent] of Object.entries(value))
    if (!isAgent(agent)) refuse(`${path}.${name}`, `${kindOf(agent)} is not an agent`, agentHint);
}

function checkFleets(value: unknown, path: string): void {
  const hint = 'Write fleets: { name: { agent: (turn) => … } }.';
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(path, 'it is not an object of fleets', hint);
  for (const [name, fleet] of Object.entries(value)) {
    const isFleet =
      typeof fleet === 'function' ||
      (typeof fleet === 'object' && fleet !== null && Object.values(fleet).every((run) => typeof run === 'function'));
    if (!isFleet) refuse(`${path}.${name}`, `${kindOf(fleet)} is not a fleet`, hint);
  }
}

function checkSimulations(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse(path, 'it is not an object of simulations', 'Write simulate: { tool: (input, recorded) => answer }.');
  for (const [name, simulate] of Object.entries(value)) {
    try {
      checkSimulation(`${path}.${name}`, { simulate });
    } catch (error) {
      const why = 'it is neither a function nor JSON';
      refuse(`${path}.${name}`, why, hasCode(error, 'option.invalid') ? (error.hint ?? '') : '');
    }
  }
}

function checkJudges(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse(path, 'it is not an object of judges', judgeHint);
  for (const [name, judge] of Object.entries(value))
    if (typeof judge !== 'function') refuse(`${path}.${name}`, `${kindOf(judge)} is not a judge`, judgeHint);
}

const judgeHint = 'Write judges: { name: (branch, { recorder }) => passOrScore }.';

function isAgent(value: unknown): value is Agent<never, unknown> {
  if (typeof value === 'function') return true;
  return typeof value === 'object' && value !== null && 'resume' in value && typeof value.resume === 'function';
}

const kindOf = (value: unknown): string => (value === null ? 'null' : `a value of type ${typeof value}`);

/** Returns the kind of a configured agent: the name of its framework, `function`, or `made when needed`. */
export function agentKind(agent: ConfigAgent): string {
  if (typeof agent !== 'function') return agent.framework;
  return agent.length === 0 ? 'made when needed' : 'function';
}

/** Returns what a function of the configuration makes; an error it throws is wrapped with the name of the agent. */
async function madeBy(make: () => unknown, name: string, file: string): Promise<unknown> {
  try {
    return await make();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RepriseError('agent.failed', `Cannot make agent "${name}" of ${JSON.stringify(file)}: ${why}`, {
      hint: `Fix the function agents.${name}, which throws this error.`,
      details: { file, agent: name },
      cause: error,
    });
  }
}

/** Returns the agent of a name, and makes it if it has to; throws `agent.not-found` if there is none. */
export async function agentNamed(config: Config, name: string, file: string): Promise<Agent> {
  const agents = config.agents ?? {};
  const names = Object.keys(agents);
  const found = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (found === undefined) {
    throw new RepriseError('agent.not-found', `Cannot find agent "${name}": ${JSON.stringify(file)} does not name it`, {
      hint: names.length === 0 ? 'Add it to the agents of the configuration.' : `Use one of: ${names.join(', ')}.`,
      details: { file, agents: names },
    });
  }
  // The caller of `resume` knows what its run call takes.
  if (typeof found !== 'function' || found.length > 0) return found as Agent;
  const made = await madeBy(found as () => unknown, name, file);
  if (isAgent(made)) return made as Agent;
  const why = `a function without parameters must return an agent, and it returned ${kindOf(made)}`;
  return refuseField(file, `agents.${name}`, { why, hint: agentHint });
}
