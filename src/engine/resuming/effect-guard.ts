import { RepriseError } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { given, type JsonValue } from '../../core/json.ts';
import type { Seq } from '../../core/point.ts';
import type { CallGuard, NamedCall, StoredStart } from '../../core/recording/call-guard.ts';
import {
  decideEffect,
  type EffectAction,
  type EffectClass,
  type EffectPolicy,
  type EffectRecord,
} from '../../core/recording/effects.ts';
import { errorRecord } from '../../core/recording/error-record.ts';
import type { PersonAnswer } from '../../core/recording/person-calls.ts';
import { recordable } from '../../core/recording/recordable.ts';
import type { CallEnd, ReusedAnswer } from '../../core/recording/recorder.ts';
import { refText } from '../../core/ref.ts';
import type { View } from '../../core/view/view.ts';
import { callEffect } from '../recording/call-data.ts';
import { AskedCall, type Comparing } from './asked-call.ts';
import type { CallsAround, EffectLedger } from './effect-ledger.ts';
import type { KnownCall } from './known-call.ts';

/** A call that must not be repeated unless a person allows it. */
export interface EffectQuestion {
  readonly session: string;
  readonly branch: string;
  readonly kind: string;
  readonly name: string;
  readonly input: JsonValue | undefined;
  readonly effect: EffectClass;
  /** Where the same call was made before, as a ref; undefined if it never was, and the policy is to ask. */
  readonly earlier: string | undefined;
  /** How that call ended; undefined if nobody knows whether it happened. */
  readonly outcome: Outcome | undefined;
}

/** The answer of a person. `reuse` is refused if nobody knows how the earlier call ended. */
export type EffectAnswer = 'run' | 'reuse' | 'refuse';

/** The options of an effect guard. Equal calls are found by what was stored of them. */
export interface EffectGuardOptions extends Comparing {
  readonly effects?: EffectPolicy | undefined;
  readonly ask?: ((question: EffectQuestion) => Promise<EffectAnswer>) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The calls that stopped to ask a person, and the answers they now get. */
  readonly paused?: PausedCalls;
}

/** Calls that stopped to ask a person. */
export interface PausedCalls {
  readonly calls: ReadonlySet<string>;
  readonly answers: readonly PersonAnswer[];
}

interface Found {
  readonly record: EffectRecord;
  readonly known?: KnownCall;
}

/** The identity of an effect: calls that share it are the same effect. */
interface SameEffect {
  readonly asked: AskedCall;
  /** How many calls with the same name and arguments the run made before it. */
  readonly ordinal: number;
  readonly effect: EffectClass;
}

/** The branch that is continued, and the seq of its view. */
interface GuardedPlace {
  readonly session: string;
  readonly branch: string;
  readonly seq: Seq;
  readonly view: View;
}

/** Decides about every call of a resumed run that may have an effect, by the record of the session. */
export class EffectGuard implements CallGuard {
  readonly #ledger: EffectLedger;
  readonly #where: GuardedPlace;
  readonly #options: EffectGuardOptions;
  readonly #made = new Map<string, number>();
  readonly #open = new Map<string, (ended: ReusedAnswer) => void>();
  readonly #started = new Set<string>();
  #around: Promise<CallsAround> | undefined;
  /** Calls that a person was asked about. */
  asked = 0;
  /** Calls that were answered from the record. */
  reused = 0;

  constructor(ledger: EffectLedger, where: GuardedPlace, options: EffectGuardOptions) {
    this.#ledger = ledger;
    this.#where = where;
    this.#options = options;
  }

  /**
   * Returns the recorded answer that stands in for the call, or undefined if it is to be made. Throws `effect.refused`.
   */
  async before(start: NamedCall): Promise<ReusedAnswer | undefined> {
    if (start.kind === 'model') return undefined;
    const asked = new AskedCall(start, this.#options);
    const { key } = asked;
    const ordinal = this.#made.get(key) ?? 0;
    this.#made.set(key, ordinal + 1);
    const same = { asked, ordinal, effect: callEffect(start) };
    const { branch } = this.#where;
    let decision: { readonly action: EffectAction; readonly found: Found };
    let begun: number;
    do {
      begun = this.#ledger.begunBeside(branch, key);
      decision = await this.#decide(start, same);
      // A parallel run may have started the same call while this one was being decided.
    } while (decision.action === 'run' && this.#ledger.begunBeside(branch, key) !== begun);
    const { action, found } = decision;
    if (action === 'run') {
      this.#open.set(start.call, this.#ledger.begin(branch, start.call, asked));
      return undefined;
    }
    const { known } = found;
    if (action !== 'reuse' || known?.outcome === undefined || isUnsure(known))
      throw this.#refusal(start, same.effect, found);
    this.reused++;
    this.#ledger.reuse(branch);
    return known.answer();
  }

  async #decide(start: NamedCall, same: SameEffect): Promise<{ readonly action: EffectAction; readonly found: Found }> {
    const found = await this.#find(start, same);
    const { ask, effects } = this.#options;
    const { effect } = same;
    const record: EffectRecord = isUnsure(found.known) ? { kind: 'inDoubt' } : found.record;
    const action = decideEffect(effects, { name: start.name, effect, record, canAsk: ask !== undefined });
    return { action: action === 'ask' ? await this.#ask(start, effect, found) : action, found };
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
    const { ask, effects } = this.#options;
    const found =
      here === undefined && !isUnsure(known) ? best([known]) : ({ record: { kind: 'inDoubt' }, known } satisfies Found);
    const effect = callEffect(start);
    const action = decideEffect(effects, { name: start.name, effect, record: found.record, canAsk: ask !== undefined });
    const answer = action === 'ask' ? await this.#ask(start, effect, found) : action;
    if (answer !== 'run') throw this.#refusal(start, effect, found);
  }

  /** Passes the end of a call on to those who wait for it. */
  ended(start: NamedCall, end: CallEnd): void {
    const settle = this.#open.get(start.call);
    this.#open.delete(start.call);
    settle?.(answerOf(end));
  }

  /** Ends a call that is not made after all: it is in doubt for those who wait for it. */
  withdrawn({ call }: NamedCall): void {
    this.#open.get(call)?.(interrupted);
    this.#open.delete(call);
  }

  /** Ends the calls that are still open: they are in doubt for those who wait for them. */
  close(): void {
    for (const settle of this.#open.values()) settle(interrupted);
    this.#open.clear();
  }

  /**
   * Finds what the record holds of the same effect. A call with a recorded id is that call: it is pending, or the
   * program starts over. Any other call is the n-th with its name and arguments since the point. Calls before the point
   * are done, and one more is a new effect, unless the call is irreversible.
   */
  async #find({ call }: NamedCall, { asked, ordinal, effect }: SameEffect): Promise<Found> {
    this.#around ??= this.#ledger.around(this.#where.view);
    const { inside, ...all } = await this.#around;
    const outside =
      this.#options.paused?.calls.has(call) === true ? await this.#answeredAlike(all.outside) : all.outside;
    const equal = asked.in(inside);
    const others = outside.map((calls) => asked.in(calls));
    const isIt = (known: KnownCall): boolean => known.call === call;
    const same = equal.findLast(isIt);
    if (same !== undefined)
      return same.outcome === undefined
        ? best(
            others.map((list) => list.find(isIt)),
            same,
          )
        : before(same);
    const elsewhere = others.flatMap((list) => list.filter(isIt));
    if (elsewhere.length > 0) return best(elsewhere);
    const last = effect === 'irreversible' ? equal.findLast(({ outcome }) => outcome === 'ok') : undefined;
    if (last !== undefined) return before(last);
    const known = new Set(equal.flatMap((other) => (other.outcome === undefined ? [] : [other.call])));
    // A pending call that was executed later has two starts, and its end is known.
    const doubts = equal.filter((other) => other.outcome === undefined && !known.has(other.call));
    const doubt = doubts[ordinal];
    if (doubt !== undefined)
      return best(
        others.map((list) => list.find((other) => other.call === doubt.call)),
        doubt,
      );
    const mayRepeat = effect === 'pure' || effect === 'idempotent';
    const live = mayRepeat ? [] : this.#live(asked.key);
    const sequences = sequencesOf([...others.map((list) => list.filter((other) => !other.beganInside)), ...live]);
    const done = effect === 'irreversible' ? [] : equal.filter((other) => other.outcome !== undefined);
    return best(await this.#nthOf(sequences, ordinal - doubts.length, done));
  }

  /**
   * Returns the branches on which people gave the same answers. A call that asks a person is a different effect if the
   * answer is a different one.
   */
  async #answeredAlike(outside: CallsAround['outside']): Promise<CallsAround['outside']> {
    const { compare } = this.#options;
    const alike: (typeof outside)[number][] = [];
    for (const known of outside) {
      const said = await Promise.all(
        (this.#options.paused?.answers ?? []).flatMap(({ call, output }) =>
          known
            .filter((other) => other.call === call && other.outcome === 'ok')
            .map(async (other) => compare((await other.answer()).output ?? null, output) === 'same'),
        ),
      );
      if (said.every((isSame) => isSame)) alike.push(known);
    }
    return alike;
  }

  /** Returns the calls of parallel runs. */
  #live(key: string): (readonly KnownCall[])[] {
    return this.#ledger.liveBeside(this.#where.branch).map((list) => list.filter((known) => known.key === key));
  }

  /**
   * Returns the n-th call of each branch since it parted from this one, after those this branch made since then. It
   * waits for a call that is being made.
   */
  async #nthOf(
    sequences: ReadonlyMap<string, readonly KnownCall[]>,
    nth: number,
    done: readonly KnownCall[],
  ): Promise<(KnownCall | undefined)[]> {
    const own = this.#where.branch;
    const calls = [...sequences].map(
      ([branch, list]) => list[nth + done.filter((known) => !this.#ledger.isIn(branch, known, own)).length],
    );
    for (const known of calls)
      if (known?.settled !== undefined) await Promise.race([known.settled, aborted(this.#options.signal)]);
    return calls;
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
    const policy = `effects: { names: { ${JSON.stringify(name)}: 'run' } }`;
    const why =
      earlier === undefined
        ? 'the policy does not allow it'
        : known?.hasOtherKey === true
          ? `nobody can tell whether it is the call at ${earlier}, whose arguments were masked with a different key`
          : known?.isWithheld === true
            ? `it was made at ${earlier}, and part of that could not be recorded`
            : record.kind === 'inDoubt'
              ? `it was started at ${earlier}, and nobody knows whether it happened`
              : `it was made at ${earlier} and ended "${known?.outcome}"`;
    const reuse = known?.outcome === undefined || isUnsure(known) ? '' : " use the recorded answer with 'reuse',";
    const key = known?.hasOtherKey === true ? ' set REPRISE_MASK_KEY to the key it was recorded with,' : '';
    return new RepriseError('effect.refused', `Cannot call ${JSON.stringify(name)}, which is ${effect}: ${why}`, {
      hint: `Allow it with ${policy},${reuse}${key} or pass ask to decide call by call.`,
      details: { name, effect, ...given({ earlier }) },
    });
  }
}

/** Tells whether a call cannot stand in for a new one: part of it is missing, or it may be a different call. */
const isUnsure = (known: KnownCall | undefined): boolean => known?.isWithheld === true || known?.hasOtherKey === true;

const before = (known: KnownCall): Found =>
  known.outcome === 'ok'
    ? { record: { kind: 'before' }, known }
    : { record: { kind: 'elsewhere', outcome: known.outcome as Outcome }, known };

const ranks: Readonly<Record<Outcome, number>> = { ok: 0, interrupted: 2, aborted: 2, budget: 2, waiting: 2, error: 3 };
const rankOf = ({ outcome }: KnownCall): number => (outcome === undefined ? 1 : ranks[outcome]);

/**
 * Picks the earlier call that counts most: one that succeeded, else one that may have happened, else one that failed.
 */
function best(calls: readonly (KnownCall | undefined)[], doubt?: KnownCall): Found {
  const known = calls
    .filter((call) => call !== undefined)
    .reduce<KnownCall | undefined>((a, b) => (a === undefined || rankOf(b) < rankOf(a) ? b : a), undefined);
  if (known?.outcome !== undefined) return { record: { kind: 'elsewhere', outcome: known.outcome }, known };
  const unknown = known ?? doubt;
  return unknown === undefined ? { record: { kind: 'never' } } : { record: { kind: 'inDoubt' }, known: unknown };
}

const interrupted: ReusedAnswer = { outcome: 'interrupted', output: undefined, error: undefined };

/** Returns a copy of an end as the record would give it, for others who make the same call. */
function answerOf({ outcome = 'ok', output, error }: CallEnd): ReusedAnswer {
  try {
    const told = error === undefined ? undefined : errorRecord(error);
    return { outcome, output: recordable(output).value, error: told };
  } catch {
    // It is too large for the record, so nobody else can get it.
    return interrupted;
  }
}

/** Groups calls by branch, in order. A call that was open when the record was read appears once. */
function sequencesOf(lists: readonly (readonly KnownCall[])[]): ReadonlyMap<string, readonly KnownCall[]> {
  const sequences = new Map<string, Map<string, KnownCall>>();
  for (const known of lists.flat()) {
    const calls = sequences.get(known.branch) ?? new Map<string, KnownCall>();
    sequences.set(known.branch, calls.set(known.call, known));
  }
  return new Map([...sequences].map(([branch, calls]) => [branch, [...calls.values()]]));
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}
