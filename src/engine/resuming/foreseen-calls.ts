import { given, type JsonValue } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { seq as checkedSeq } from '../../core/point.ts';
import type { PendingCall, ResumableAgent } from '../../core/recording/agent.ts';
import type { NamedCall } from '../../core/recording/call-guard.ts';
import {
  type EffectClass,
  type EffectDecision,
  type EffectPolicy,
  effectCallOf,
  effectOf,
} from '../../core/recording/effects.ts';
import { refText } from '../../core/ref.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, placeAtHead } from '../history/place.ts';
import { replay } from '../looking/replay.ts';
import { callEffect } from '../recording/call-data.ts';
import { recordingDefaults } from '../recording/recording-defaults.ts';
import { EffectGuard } from './effect-guard.ts';
import { EffectLedger } from './effect-ledger.ts';
import { pendingEffect, takenCall } from './pending-calls.ts';
import type { PersonPart } from './person-part.ts';

/** The fate of a call in a resume: it is made, answered from the record, simulated, asked about, or refused. */
export type Fate = 'made' | 'answered' | 'simulated' | 'asked' | 'refused';

const fates: Readonly<Record<EffectDecision, Fate>> = {
  run: 'made',
  reuse: 'answered',
  simulate: 'simulated',
  ask: 'asked',
  refuse: 'refused',
};

/** A call that a resume would make, or that it would make if the agent does what the original did. */
export interface ForeseenCall {
  /** `pending`: the model decided on it, and a resume makes it first. `recorded`: the original made it later. */
  readonly from: 'pending' | 'recorded';
  /** The event that decided or made it, as a ref. */
  readonly ref: string;
  readonly kind: string;
  readonly name: string;
  readonly input: JsonValue | null;
  readonly effect: EffectClass;
  readonly fate: Fate;
  /** Where the same call was made before; null if it never was. */
  readonly earlier: string | null;
}

/** The fate of a call that has other arguments than every call of its tool in the session. */
export interface ForeseenTool {
  readonly name: string;
  readonly effect: EffectClass;
  readonly fate: Fate;
}

/** The calls of a resume, as far as they can be known before it. */
export interface ForeseenCalls {
  readonly calls: readonly ForeseenCall[];
  /** The tools of the session, and what becomes of a call with new arguments. */
  readonly otherwise: readonly ForeseenTool[];
}

/** How a resume would decide about calls. */
export interface ForeseeingOptions {
  /** The policy for calls that have an effect, as `resume` takes it. */
  readonly effects?: EffectPolicy;
  /** Whether there would be a person to ask; true if left out. */
  readonly canAsk?: boolean;
}

/** A pending call, and the seq of the answer in which the model decided on it. */
type PendingAt = PendingCall & { readonly seq: number };

interface PlannedCall extends NamedCall {
  readonly from: ForeseenCall['from'];
  readonly ref: string;
}

/** Returns the calls that a resume at a point would make, answer, simulate or ask about. It makes none of them. */
export async function foreseeCalls(
  engine: Engine,
  place: Place,
  of: SessionRecord,
  pending: readonly PendingAt[],
  { effects, canAsk = true }: ForeseeingOptions,
): Promise<ForeseenCalls> {
  const { session } = place;
  const { branch } = place.record;
  const ledger = new EffectLedger(engine, session);
  const where = { session, branch, seq: place.seq, view: viewAt(place.history, place.seq) };
  const ask = canAsk ? () => Promise.resolve('refuse' as const) : undefined;
  const { platform } = engine;
  const masking = recordingDefaults(engine, of, {});
  const guard = new EffectGuard(ledger, where, { ...masking, ...given({ effects, ask }), by: 'resume', platform });
  const decided = await Promise.all(pending.map((call) => pendingCall(ledger, place, call)));
  const planned = [...decided, ...(await laterCalls(engine, place, new Set(pending.map(({ call }) => call))))];
  const calls = await foreseen(guard, planned);
  return { calls, otherwise: await foreseenTools(guard, ledger) };
}

async function foreseen(guard: EffectGuard, planned: readonly PlannedCall[]): Promise<ForeseenCall[]> {
  const made = new Map<string, number>();
  const calls: ForeseenCall[] = [];
  for (const { from, ref, ...start } of planned) {
    const key = JSON.stringify([start.name, start.input ?? null]);
    const ordinal = made.get(key) ?? 0;
    made.set(key, ordinal + 1);
    const { action, earlier = null } = await guard.foresee(start, ordinal);
    const { kind, name, input = null } = start;
    calls.push({ from, ref, kind, name, input, effect: callEffect(start), fate: fates[action], earlier });
  }
  return calls;
}

async function pendingCall(
  ledger: EffectLedger,
  { session, record }: Place,
  { call, name, input, seq }: PendingAt,
): Promise<PlannedCall> {
  const ref = refText({ session, branch: record.branch, at: { kind: 'seq', seq: checkedSeq(seq) } });
  const effect = await ledger.effectOf(name);
  return { from: 'pending', ref, kind: 'tool', call, name, input, ...given({ effect }) };
}

/**
 * Returns the calls that followed the point: on its own branch, or on the branch it was forked from. A resume makes new
 * calls, so they do not keep their ids.
 */
async function laterCalls(engine: Engine, place: Place, pending: ReadonlySet<string>): Promise<readonly PlannedCall[]> {
  const { session, record, seq } = place;
  const source = seq < record.head ? { branch: record.branch, seq } : record.parent;
  if (source === undefined) return [];
  const { branch } = source;
  const read = { after: source.seq, filter: { types: ['call.started'] } } as const;
  const calls: PlannedCall[] = [];
  for await (const event of replay(engine, () => placeAtHead(engine, session, branch), read)) {
    if (calls.length >= limits.foreseenCallsMax) break;
    const { kind, name, call, input } = event.data;
    if (typeof name !== 'string' || !isToolKind(kind) || pending.has(String(call))) continue;
    const ref = refText({ session, branch: event.branch, at: { kind: 'seq', seq: event.seq } });
    const effect = effectOf(effectCallOf(event.data));
    calls.push({ from: 'recorded', ref, kind, name, call: `${String(call)} again`, effect, ...given({ input }) });
  }
  return calls;
}

type ToolKind = 'tool' | 'http' | 'mcp' | 'process';
const isToolKind = (kind: unknown): kind is ToolKind =>
  kind === 'tool' || kind === 'http' || kind === 'mcp' || kind === 'process';

async function foreseenTools(guard: EffectGuard, ledger: EffectLedger): Promise<ForeseenTool[]> {
  const tools: ForeseenTool[] = [];
  for (const [name, effect] of await ledger.tools()) {
    tools.push({ name, effect, fate: fates[guard.decideNew(name, effect)] });
  }
  return tools;
}

/** A resume that is about to begin: its agent, its guard, and what people decided. */
interface Beginning<Run, Result> {
  readonly agent: ResumableAgent<Run, Result>;
  readonly effects: EffectGuard;
  readonly ledger: EffectLedger;
  readonly person: PersonPart;
}

/** Throws the refusal of the first pending call that would be refused, before anything is run or written. */
export async function checkPendingEffects<Run, Result>(
  { agent, effects, ledger, person }: Beginning<Run, Result>,
  pending: readonly PendingCall[],
): Promise<void> {
  if (!person.isMadeHere) return;
  for (const open of pending) {
    const { call, name } = open;
    const isDecided = person.held.has(call) || person.approvals.get(call)?.approved === false;
    if (isDecided || agent.isForCaller?.(open) === true) continue;
    const taken = await takenCall(agent, open);
    if ('error' in taken) continue;
    const effect = await pendingEffect(agent, ledger, open);
    const { refusal } = await effects.foresee({
      kind: 'tool',
      name,
      call,
      input: taken.pending.input,
      ...given({ effect }),
    });
    if (refusal !== undefined) throw refusal;
  }
}
