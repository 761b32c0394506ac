import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { HeldMessage, Repair } from '../../core/message/repair.ts';
import type { BranchSettings, PendingCall } from '../../core/recording/agent.ts';
import { type PointInput, refText } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { findPlace } from '../history/place.ts';
import { resumableHistory } from './resume-history.ts';

/** How to look at what a resume would hand over. */
export interface ResumableOptions {
  /** Whose conversation is continued; the last active one if left out. */
  readonly agentName?: string;
  /** The model that would get the history, if the branch names none: it does not get the reasoning of others. */
  readonly model?: string;
}

const resumableKeys: KnownKeys = optionKeys<ResumableOptions>('look at the resume', { agentName: 'text', model: true });

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
  /** Calls that the model decided on and nobody answered: a resume makes them first. */
  readonly pending: readonly (PendingCall & { readonly seq: number })[];
  /** The repairs of the messages, by the name of the rule. */
  readonly repairs: readonly Repair[];
}

/** Returns what a resume at a point would hand over. It runs nothing and writes nothing. */
export async function resumable(
  engine: Engine,
  session: string,
  point: PointInput,
  options: ResumableOptions = {},
): Promise<Resumable> {
  checkKeys(options, resumableKeys);
  const place = await findPlace(engine, session, point);
  const { agentName: agent, model } = options;
  const history = await resumableHistory(engine, place, given({ agent, model }));
  const { lane, messages, prompt = null, pending, settings, repairs } = history;
  const ref = refText({ session, branch: place.record.branch, at: { kind: 'seq', seq: place.seq } });
  return { ref, agent: lane?.agent ?? null, run: lane?.run ?? null, messages, prompt, pending, ...settings, repairs };
}
