import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { HeldMessage, Repair } from '../../core/message/repair.ts';
import type { BranchSettings, PendingCall } from '../../core/recording/agent.ts';
import { checkEffectPolicy } from '../../core/recording/effects.ts';
import { refText } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { sessionOf, sightAt } from '../history/sight.ts';
import { type ForeseeingOptions, type ForeseenCall, type ForeseenTool, foreseeCalls } from './foreseen-calls.ts';
import { resumableHistory } from './resume-history.ts';

/** How to look at what a resume would hand over. */
export interface ResumableOptions extends ForeseeingOptions {
  /** Whose conversation is continued; the last active one if left out. */
  readonly agentName?: string;
  /** The model that would get the history, if the branch names none: it does not get the reasoning of others. */
  readonly model?: string;
}

const resumableKeys: KnownKeys = optionKeys<ResumableOptions>('look at the resume', {
  agentName: 'text',
  model: true,
  effects: true,
  canAsk: 'flag',
});

/** The input that a resume at a point hands to an agent. */
export interface Resumable extends BranchSettings {
  /** The point as a ref. */
  readonly ref: string;
  /** The agent and run that are continued; null if there are none. */
  readonly agent: string | null;
  readonly run: string | null;
  /** The mended history without the prompt, each message with the seq of the event that made it. */
  readonly messages: readonly HeldMessage[];
  /** The user message to answer; null if there is none. */
  readonly prompt: HeldMessage | null;
  /** Unanswered calls that the model decided on: a resume makes them first. */
  readonly pending: readonly (PendingCall & { readonly seq: number })[];
  /** The repairs of the messages, by the name of the rule. */
  readonly repairs: readonly Repair[];
  /** The pending calls, and those the original made later, each with what would become of it. */
  readonly calls: readonly ForeseenCall[];
  /** The fate of a call with new arguments, for each tool of the session. */
  readonly otherwise: readonly ForeseenTool[];
}

/** Returns what a resume at a place would hand over. It runs nothing and writes nothing. */
export async function resumable(engine: Engine, place: Place, options: ResumableOptions = {}): Promise<Resumable> {
  checkKeys(options, resumableKeys);
  const { agentName: agent, model, effects, canAsk } = options;
  checkEffectPolicy(effects);
  const agents = agent === undefined ? [] : [agent];
  const sight = sightAt(engine, place);
  const history = await resumableHistory(sight, { agents, ...given({ model }) });
  const { lane, messages, prompt = null, pending, settings, repairs } = history;
  const { session } = place;
  const ref = refText({ session, branch: place.record.branch, at: { kind: 'seq', seq: place.seq } });
  const foreseen = await foreseeCalls(engine, place, await sessionOf(sight), pending, given({ effects, canAsk }));
  const handed = { messages, prompt, pending, ...settings, repairs };
  return { ref, agent: lane?.agent ?? null, run: lane?.run ?? null, ...handed, ...foreseen };
}
