import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { AgentReplayOptions, AsOptions } from './agent-source.ts';

/** The options of a replay as an agent. */
export const agentReplayKeys: KnownKeys = optionKeys<AgentReplayOptions>('replay as an agent', {
  types: 'list',
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
export const asKeys: KnownKeys = optionKeys<AsOptions>('act as an agent', { handed: 'flag' }, 'acting as an agent');
