import { RepriseError } from '../../core/error.ts';
import type { Config } from '../../core/recording/config.ts';
import type { Context } from '../context.ts';
import { demoAgentName } from '../options/agent-options.ts';

/**
 * Returns the configuration whose agents the studio may start. Without one, the studio offers the agent of the demo,
 * which runs anywhere. The command prints why it cannot use a configuration, and opens the studio all the same.
 */
export async function studioAgents(context: Context): Promise<Config> {
  const loaded = await context.config().catch((error: unknown) => {
    if (!(error instanceof RepriseError)) throw error;
    context.out.say(`${error.message}. ${error.hint ?? ''}`.trim());
    return undefined;
  });
  const config = loaded?.config ?? {};
  if (Object.keys(config.agents ?? {}).length > 0) return config;
  const { demoAgent } = await import('../demo/demo-agent.ts');
  const { supportSimulations } = await import('../demo/support-agent.ts');
  return { ...config, agents: { [demoAgentName]: demoAgent }, simulate: { ...supportSimulations, ...config.simulate } };
}

/** Returns the configuration whose agents a server may start; `agent.not-found` if there is none. */
export async function servedAgents(context: Context): Promise<Config> {
  const loaded = await context.config();
  if (Object.keys(loaded?.config.agents ?? {}).length > 0) return loaded?.config ?? {};
  throw new RepriseError('agent.not-found', 'Cannot serve with --agents: no reprise.config.ts here names an agent', {
    hint: 'Create one that names your agents; "reprise config" prints an example.',
  });
}
