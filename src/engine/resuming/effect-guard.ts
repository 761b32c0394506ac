import { assert, RepriseError } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { given, type JsonValue } from '../../core/json.ts';
import type { CallGuard, NamedCall, StoredStart } from '../../core/recording/call-guard.ts';
import {
  decideEffect,
  type EffectAction,
  type EffectClass,
  type EffectDecision,
  type EffectPolicy,
  type EffectRecord,
  isDecidedBy,
  simulationOf,
} from '../../core/recording/effects.ts';
import { errorRecord } from '../../core/recording/error-record.ts';
import { recordable } from '../../core/recording/recordable.ts';
import type { CallEnd, ReusedAnswer } from '../../core/recording/recorder.ts';
import { isSimulation, type SimulatedAfter, type Simulation } from '../../core/recording/simulation.ts';
import { refText } from '../../core/ref.ts';
import type { Platform } from '../../core/store/platform.ts';
import { callEffect } from '../recording/call-data.ts';
import { AskedCall } from './asked-call.ts';
import {
  best,
  EffectFinder,
  type FinderOptions,
  type Found,
  type GuardedPlace,
  isUnsure,
  type SameEffect,
} from './effect-finder.ts';
import type { EffectLedger } from './effect-ledger.ts';
import type { KnownCall } from './known-call.ts';
import { simulatedAnswer } from './simulated-answer.ts';

/** A call that must not be made unless a person allows it. */
export interface EffectQuestion {
  readonly session: string;
  readonly branch: string;
  readonly kind: string;
  readonly name: string;
  readonly input: JsonValue | undefined;
  readonly effect: EffectClass;
  /** Where the same call was made before, as a ref; undefined if it never was. */
  readonly earlier: string | undefined;
  /** How that call ended; undefined if it is unknown whether it happened. */
  readonly outcome: Outcome | undefined;
}

/**
 * The answer of a person: make the call, answer it from the record, refuse it, or answer it by a simulation. `reuse` is
 * refused if it is unknown how the earlier call ended.
 */
export type EffectAnswer = 'run' | 'reuse' | 'refuse' | Simulation;

/** The options of an effect guard. Equal calls are found by what was stored of them. */
export interface EffectGuardOptions extends FinderOptions {
  readonly effects?: EffectPolicy | undefined;
  readonly ask?: ((question: EffectQuestion) => Promise<EffectAnswer>) | undefined;
  readonly by: 'resume' | 'experiment';
  /** The calls that a person has allowed to be made, once. */
  readonly allowed?: ReadonlySet<string>;
  readonly platform: Pick<Platform, 'startTimer'>;
}

/** A decision about a call, and what the record has of it. */
interface Decided {
  readonly action: EffectDecision;
  readonly found: Found;
  /** The simulation that a person chose. */
  readonly simulation?: Simulation;
}

/** A decision about a call that is not made now. */
export interface Foreseen {
  readonly action: EffectDecision;
  /** Where the same call was made before, as a ref; undefined if it never was. */
  readonly earlier: string | undefined;
  /** The error that a resume would end with, if it would be refused. */
  readonly refusal: RepriseError | undefined;
}

/** Decides about every call of a resumed run that may have an effect, by the record of the session. */
export class EffectGuard implements CallGuard {
  readonly #ledger: EffectLedger;
  readonly #where: GuardedPlace;
  readonly #options: EffectGuardOptions;
  readonly #finder: EffectFinder;
  readonly #made = new Map<string, number>();
  /** The calls that are being made. Two of them may have the same id. */
  readonly #open = new Map<NamedCall, (ended: ReusedAnswer) => void>();
  readonly #started = new Set<string>();
  /** Calls that a person was asked about. */
  asked = 0;
  /** Calls that were answered from the record. */
  reused = 0;
  /** Calls that a simulation answered. */
  simulated = 0;

  constructor(ledger: EffectLedger, where: GuardedPlace, options: EffectGuardOptions) {
    this.#ledger = ledger;
    this.#where = where;
    this.#options = options;
    this.#finder = new EffectFinder(ledger, where, options);
  }

  /**
   * Returns the recorded or simulated answer that replaces the call, or undefined if it is to be made. Throws
   * `effect.refused`.
   */
  async before(start: NamedCall): Promise<ReusedAnswer | undefined> {
    if (start.kind === 'model') return undefined;
    const asked = new AskedCall(start, this.#options);
    const { key } = asked;
    const ordinal = this.#made.get(key) ?? 0;
    this.#made.set(key, ordinal + 1);
    const same = { asked, ordinal, effect: callEffect(start) };
    const { branch } = this.#where;
    let decision: Decided;
    let begun: number;
    do {
      begun = this.#ledger.begunBeside(branch, key);
      decision = await this.#decide(start, same);
      // A parallel run may have started the same call while this one was being decided.
    } while (decision.action === 'run' && this.#ledger.begunBeside(branch, key) !== begun);
    const { action, found, simulation } = decision;
    if (action === 'run') {
      this.#open.set(start, this.#ledger.begin(branch, start.call, asked));
      return undefined;
    }
    if (action === 'simulate') return this.#simulate(start, found, simulation);
    const { known } = found;
    if (action !== 'reuse' || known?.outcome === undefined || isUnsure(known))
      throw this.#refusal(start, same.effect, found);
    this.reused++;
    this.#ledger.reuse(branch);
    return known.answer();
  }

  /** Returns the decision that a call would get by the record, without making it, asking, or waiting for others. */
  async foresee(start: NamedCall, ordinal = 0): Promise<Foreseen> {
    const effect = callEffect(start);
    const same = { asked: new AskedCall(start, this.#options), ordinal, effect };
    const found = await this.#finder.find(start.call, same, { isForeseen: true });
    const action = this.#actionFor(start, effect, found);
    const { known } = found;
    const cannotReuse = action === 'reuse' && (known?.outcome === undefined || isUnsure(known));
    const isRefused = action === 'refuse' || cannotReuse;
    return {
      action: isRefused ? 'refuse' : action,
      earlier: known === undefined ? undefined : this.#refOf(known),
      refusal: isRefused ? this.#refusal(start, effect, found) : undefined,
    };
  }

  /** Returns the decision about a call of a tool that the session never made with such arguments. */
  decideNew(name: string, effect: EffectClass): EffectDecision {
    const { ask, effects, by } = this.#options;
    return decideEffect(effects, { name, effect, record: { kind: 'never' }, canAsk: ask !== undefined, by });
  }

  #actionFor({ name, call }: NamedCall, effect: EffectClass, { known, record: held }: Found): EffectDecision {
    const { ask, effects, by, allowed } = this.#options;
    const record: EffectRecord = isUnsure(known) ? { kind: 'inDoubt' } : held;
    const isAllowed = by === 'resume' && record.kind === 'never' && allowed?.has(call) === true;
    if (isAllowed && !isDecidedBy(effects, { name, effect })) return 'run';
    return decideEffect(effects, { name, effect, record, canAsk: ask !== undefined, by });
  }

  async #decide(start: NamedCall, same: SameEffect): Promise<Decided> {
    const found = await this.#finder.find(start.call, same);
    const { effect } = same;
    const action = this.#actionFor(start, effect, found);
    if (action !== 'ask') return { action, found };
    const answer = await this.#ask(start, effect, found);
    return isSimulation(answer) ? { action: 'simulate', found, simulation: answer } : { action: answer, found };
  }

  /**
   * Checks an irreversible call once more when its start is stored. If several processes resume one branch, only the
   * one whose start was stored first makes the call. If they resume different branches, at most one makes it. For the
   * others the call is in doubt.
   */
  async started(start: NamedCall, { id, branch }: StoredStart): Promise<void> {
    if (id !== undefined) this.#started.add(id);
    const asked = new AskedCall(start, this.#options);
    const here = await this.#ledger.begunBefore({ branch, after: this.#where.seq, id }, asked, this.#started);
    const known = here ?? (await this.#ledger.begunElsewhere(branch, asked));
    if (known === undefined) return;
    const found =
      here === undefined && !isUnsure(known) ? best([known]) : ({ record: { kind: 'inDoubt' }, known } satisfies Found);
    const effect = callEffect(start);
    const action = this.#actionFor(start, effect, found);
    const answer = action === 'ask' ? await this.#ask(start, effect, found) : action;
    if (answer !== 'run') throw this.#refusal(start, effect, found);
  }

  /** Passes the end of a call on to those who wait for it. */
  ended(start: NamedCall, end: CallEnd): void {
    const settle = this.#open.get(start);
    this.#open.delete(start);
    settle?.(answerOf(end));
  }

  /** Ends a call that is not made after all: it is in doubt for those who wait for it. */
  withdrawn(start: NamedCall): void {
    this.#open.get(start)?.(interrupted);
    this.#open.delete(start);
  }

  /** Ends the calls that are still open: they are in doubt for those who wait for them. */
  close(): void {
    for (const settle of this.#open.values()) settle(interrupted);
    this.#open.clear();
  }

  /** Answers a call by its simulation, which gets the equal call of the record, else the last one of the tool. */
  async #simulate(start: NamedCall, { known }: Found, chosen: Simulation | undefined): Promise<ReusedAnswer> {
    const simulation = chosen ?? simulationOf(this.#options.effects, start.name);
    assert(simulation !== undefined, 'a call is simulated only if its tool has a simulation');
    const { platform, signal } = this.#options;
    const recorded = typeof simulation.simulate === 'function' ? await this.#recordedFor(start, known) : undefined;
    const answer = await simulatedAnswer(start, simulation, recorded, { platform, signal });
    this.simulated++;
    return answer;
  }

  async #recordedFor({ name }: NamedCall, known: KnownCall | undefined): Promise<SimulatedAfter | undefined> {
    const isEqual = known?.outcome !== undefined && !isUnsure(known);
    const call = isEqual ? known : await this.#finder.lastOf(name);
    if (call?.outcome === undefined) return undefined;
    const { output } = await call.answer();
    return { ref: this.#refOf(call), isEqual, input: await this.#ledger.inputOf(call), outcome: call.outcome, output };
  }

  async #ask(start: NamedCall, effect: EffectClass, { known }: Found): Promise<EffectAnswer> {
    const { ask } = this.#options;
    if (ask === undefined) return 'refuse';
    this.asked++;
    const { session, branch } = this.#where;
    const { kind, name, input } = start;
    const earlier = known === undefined ? undefined : this.#refOf(known);
    return ask({ session, branch, kind, name, input, effect, earlier, outcome: known?.outcome });
  }

  #refOf({ branch, seq }: KnownCall): string {
    const at = seq === undefined ? ({ kind: 'head' } as const) : ({ kind: 'seq', seq } as const);
    return refText({ session: this.#where.session, branch, at });
  }

  #refusal({ name }: NamedCall, effect: EffectClass, { known, record }: Found): RepriseError {
    const earlier = known === undefined ? undefined : this.#refOf(known);
    const tool = JSON.stringify(name);
    const { effects, by } = this.#options;
    const why =
      earlier === undefined ? unmadeText(isDecidedBy(effects, { name, effect }), by) : madeText(earlier, record, known);
    return new RepriseError('effect.refused', `Cannot call ${tool}, which is ${effect}: ${why}`, {
      hint: hintFor(tool, known),
      details: { name, effect, ...given({ earlier }), actions: actionsFor(known) },
    });
  }
}

/** Says why a call that was never made is refused. */
function unmadeText(isDecided: boolean, by: EffectGuardOptions['by']): string {
  if (isDecided) return 'the policy does not allow it';
  return by === 'experiment'
    ? 'the session never made it with these arguments, and an experiment does not make it either'
    : 'the session never made it with these arguments, and nobody allowed it';
}

/** Says why a call that was made, or may have been made, is refused. */
function madeText(earlier: string, { kind }: EffectRecord, known: KnownCall | undefined): string {
  if (known?.hasOtherKey === true)
    return `nobody can tell whether it is the call at ${earlier}, whose arguments were masked with a different key`;
  if (known?.isWithheld === true) return `it was made at ${earlier}, and part of that could not be recorded`;
  if (kind === 'inDoubt') return `it was started at ${earlier}, and nobody knows whether it happened`;
  return `it was made at ${earlier} and ended "${known?.outcome}"`;
}

/** Returns the actions of a policy that make a refused call, or that answer it from the record. */
function actionsFor(known: KnownCall | undefined): EffectAction[] {
  if (known === undefined) return ['once'];
  return known.outcome === undefined || isUnsure(known) ? ['run'] : ['run', 'reuse'];
}

/** Says how to continue after a refusal. */
function hintFor(tool: string, known: KnownCall | undefined): string {
  const policy = (action: string): string => `effects: { names: { ${tool}: ${action} } }`;
  const [allowing, answering] = actionsFor(known);
  const allow = policy(`'${allowing}'`);
  const reuse = answering === undefined ? '' : ` use the recorded answer with '${answering}',`;
  const key = known?.hasOtherKey === true ? ' set REPRISE_MASK_KEY to the key it was recorded with,' : '';
  return `Simulate it with ${policy('{ simulate }')}, allow it with ${allow},${reuse}${key} or pass ask to decide call by call.`;
}

const interrupted: ReusedAnswer = { outcome: 'interrupted', output: undefined, error: undefined };

/** Returns a copy of an end as the record would give it, for others who make the same call. */
function answerOf({ outcome = 'ok', output, error }: CallEnd): ReusedAnswer {
  try {
    const told = error === undefined ? undefined : errorRecord(error);
    return { outcome, output: recordable(output).value, error: told };
  } catch {
    // It is too large for the record, so no other caller can get it.
    return interrupted;
  }
}
