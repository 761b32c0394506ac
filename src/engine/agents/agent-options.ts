import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { AgentReplayOptions, AsOptions } from './agent-verbs.ts';

/** The options of a replay as an agent. */
export const agentReplayKeys: KnownKeys = optionKeys<AgentReplayOptions>('replay as an agent', {
  at: 'point',
  after: 'number',
  through: 'number',
  since: 'text',
  until: 'text',
  filter: true,
  direction: 'text',
  limit: 'number',
  signal: 'signal',
});

/** The options of acting as an agent. */
export const asKeys: KnownKeys = optionKeys<AsOptions>(
  'act as an agent',
  { branch: 'text', handed: 'flag' },
  'acting as an agent',
);

const asOnBranchKeys: KnownKeys = optionKeys<Omit<AsOptions, 'branch'>>(
  'act as an agent on a branch',
  { handed: 'flag' },
  'acting as an agent on a branch',
);

/** Adds the branch to the options of acting as an agent. */
export function asOn(branch: string, options: Omit<AsOptions, 'branch'>): AsOptions {
  checkKeys(options, asOnBranchKeys);
  return { ...options, branch };
}
