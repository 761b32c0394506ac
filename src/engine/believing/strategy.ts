import type { Event } from '../../core/event/event.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkTurn } from '../../core/ref.ts';
import { append } from '../changing/append.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { fleetAtHead, turnNow } from './fleet-look.ts';
import type { Judge } from './judge.ts';

/** How the rule is changed. */
export interface StrategyOptions {
  readonly reason?: string;
  /** The turn of the story; now if left out. */
  readonly turn?: number;
}

const strategyKeys: KnownKeys = optionKeys<StrategyOptions>(
  'set the strategy',
  { reason: 'text', turn: 'number' },
  'a change of strategy',
);

/** Changes the rule by which contradictions are settled from now on. */
export async function setStrategy(
  engine: Engine,
  on: OnBranch,
  strategy: string,
  { options, judge }: { readonly options: StrategyOptions; readonly judge: Judge },
): Promise<Event> {
  checkKeys(options, strategyKeys);
  judge.checkStrategy(strategy);
  const { reason, turn } = options;
  const { place } = await fleetAtHead(engine, on);
  const at = turn === undefined ? await turnNow(engine, place) : checkTurn(turn);
  const draft = { type: 'strategy.changed', turn: at, data: { strategy, ...given({ reason }) } };
  const [event] = await append(engine, on.session, draft, { branch: on.branch });
  return event as Event;
}
