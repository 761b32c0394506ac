import { RepriseError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import type { Config } from '../../core/recording/config.ts';
import { type EffectPolicy, withSimulations } from '../../core/recording/effects.ts';
import type { Simulation } from '../../core/recording/simulation.ts';
import type { Context } from '../context.ts';
import { listOption, type OptionValues, textOption } from '../option-values.ts';
import { isDemoAgent } from './agent-options.ts';
import { jsonFile } from './json-input.ts';

type Simulations = NonNullable<Config['simulate']>;

/**
 * Returns the policy with the simulations that were asked for: `--simulate refund=FILE.json` takes the answer from the
 * file, `--simulate refund` from the configuration. An experiment takes all others of the configuration, too.
 */
export async function simulating(
  context: Context,
  options: OptionValues,
  effects: EffectPolicy | undefined,
  { all }: { readonly all: boolean },
): Promise<EffectPolicy | undefined> {
  const words = listOption(options, 'simulate');
  const configured = words.length > 0 || all ? await configuredSimulations(context, options) : {};
  const asked = words.map((word): readonly [string, Simulation] => {
    const at = word.indexOf('=');
    if (at === 0 || word === '')
      return refuse(`${JSON.stringify(word)} names no tool`, 'Write --simulate refund=FILE.json.');
    if (at > 0) return [word.slice(0, at), { simulate: jsonFile(word.slice(at + 1)) }];
    return [word, { simulate: configuredFor(word, configured) }];
  });
  const others = all ? Object.entries(configured).map(([name, simulate]) => [name, { simulate }] as const) : [];
  return withSimulations(effects, Object.fromEntries([...others, ...asked]));
}

/** Returns the simulations of the configuration; those of the demo's agent if it runs. */
async function configuredSimulations(context: Context, options: OptionValues): Promise<Simulations> {
  const loaded = await context.config();
  const isDemo = isDemoAgent(loaded?.config, textOption(options, 'with'));
  const own = isDemo ? (await import('../demo/support-agent.ts')).supportSimulations : {};
  return { ...own, ...loaded?.config.simulate };
}

function configuredFor(name: string, configured: Simulations): Simulation['simulate'] {
  if (Object.hasOwn(configured, name)) return configured[name] ?? null;
  const near = nearest(name, Object.keys(configured));
  const meant = near === undefined ? '' : `Did you mean "${near}"? `;
  return refuse(
    `reprise.config does not simulate ${JSON.stringify(name)}`,
    `${meant}Write --simulate ${name}=FILE.json, or add simulate: { ${name}: (input, recorded) => answer } to it.`,
  );
}

function refuse(why: string, hint: string): never {
  throw new RepriseError('option.invalid', `Cannot read --simulate: ${why}`, { hint });
}
