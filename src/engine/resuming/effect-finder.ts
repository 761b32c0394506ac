import { canonicalJson } from '../../core/canonical-json.ts';
import type { Outcome } from '../../core/event/event.ts';
import type { Seq } from '../../core/point.ts';
import type { EffectClass, EffectRecord } from '../../core/recording/effects.ts';
import type { PersonAnswer } from '../../core/recording/person-calls.ts';
import type { View } from '../../core/view/view.ts';
import type { AskedCall, Comparing } from './asked-call.ts';
import type { CallsAround, EffectLedger } from './effect-ledger.ts';
import type { KnownCall } from './known-call.ts';

/** The record of an effect, and the call that it is about. */
export interface Found {
  readonly record: EffectRecord;
  readonly known?: KnownCall;
}

/** The identity of an effect: calls that share it are the same effect. */
export interface SameEffect {
  readonly asked: AskedCall;
  /** How many calls with the same name and arguments the run made before it. */
  readonly ordinal: number;
  readonly effect: EffectClass;
}

/** The branch that is continued, and the seq of its view. */
export interface GuardedPlace {
  readonly session: string;
  readonly branch: string;
  readonly seq: Seq;
  readonly view: View;
}

/** Calls that stopped to ask a person. */
export interface PausedCalls {
  readonly calls: ReadonlySet<string>;
  readonly answers: readonly PersonAnswer[];
}

/** How calls are compared, and when to stop waiting for parallel ones. */
export interface FinderOptions extends Comparing {
  readonly signal?: AbortSignal | undefined;
  /** The calls that stopped to ask a person, and the answers they now get. */
  readonly paused?: PausedCalls;
}

/** Finds what the record of a session has of a call that is about to be made. */
export class EffectFinder {
  readonly #ledger: EffectLedger;
  readonly #where: GuardedPlace;
  readonly #options: FinderOptions;
  #around: Promise<CallsAround> | undefined;

  constructor(ledger: EffectLedger, where: GuardedPlace, options: FinderOptions) {
    this.#ledger = ledger;
    this.#where = where;
    this.#options = options;
  }

  /** Returns the calls of the session, inside and outside the view. */
  around(): Promise<CallsAround> {
    this.#around ??= this.#ledger.around(this.#where.view);
    return this.#around;
  }

  /** Returns the last call of a tool that ended: in the view if there is one, else outside it. */
  async lastOf(name: string): Promise<KnownCall | undefined> {
    const { inside, outside } = await this.around();
    const isIt = (known: KnownCall): boolean =>
      known.name === name && known.outcome !== undefined && known.isWithheld !== true;
    return inside.findLast(isIt) ?? outside.flat().findLast(isIt);
  }

  /**
   * Finds what the record has of the same effect. A call with a recorded id is that call: it is pending, or the
   * program starts over. Any other call is the n-th with its name and arguments since the point. Calls before the point
   * are done, and one more is a new effect, unless the call is irreversible.
   */
  async find(
    call: string,
    { asked, ordinal, effect }: SameEffect,
    { isForeseen = false }: { readonly isForeseen?: boolean } = {},
  ): Promise<Found> {
    const { inside, ...all } = await this.around();
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
    // Looking ahead does not wait for the calls of parallel runs.
    const live = mayRepeat || isForeseen ? [] : this.#live(asked.key);
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
}

const before = (known: KnownCall): Found =>
  known.outcome === 'ok'
    ? { record: { kind: 'before' }, known }
    : { record: { kind: 'elsewhere', outcome: known.outcome as Outcome }, known };

const ranks: Readonly<Record<Outcome, number>> = { ok: 0, interrupted: 2, aborted: 2, budget: 2, waiting: 2, error: 3 };
const rankOf = ({ outcome }: KnownCall): number => (outcome === undefined ? 1 : ranks[outcome]);

/**
 * Picks the earlier call that counts most: one that succeeded, else one that may have happened, else one that failed.
 */
export function best(calls: readonly (KnownCall | undefined)[], doubt?: KnownCall): Found {
  const known = calls
    .filter((call) => call !== undefined)
    .reduce<KnownCall | undefined>((a, b) => (a === undefined || rankOf(b) < rankOf(a) ? b : a), undefined);
  if (known?.outcome !== undefined) return { record: { kind: 'elsewhere', outcome: known.outcome }, known };
  const unknown = known ?? doubt;
  return unknown === undefined ? { record: { kind: 'never' } } : { record: { kind: 'inDoubt' }, known: unknown };
}

/**
 * Groups calls by branch, in order. Calls with the same id are different ones, unless the earlier one is in doubt and was
 * made again, or the later one is being made and was also read from the record.
 */
function sequencesOf(lists: readonly (readonly KnownCall[])[]): ReadonlyMap<string, readonly KnownCall[]> {
  const sequences = new Map<string, KnownCall[]>();
  const places = new Map<string, number[]>();
  for (const known of lists.flat()) {
    const calls = sequences.get(known.branch) ?? [];
    sequences.set(known.branch, calls);
    const key = canonicalJson([known.branch, known.call]);
    const held = places.get(key) ?? [];
    places.set(key, held);
    const isLive = known.seq === undefined;
    const same = held.findLast((at) => (isLive ? calls[at]?.seq !== undefined : calls[at]?.outcome === undefined));
    if (same === undefined) held.push(calls.push(known) - 1);
    else calls[same] = known;
  }
  return sequences;
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Returns true if a call cannot replace a new one: part of it is missing, or it may be a different call. */
export const isUnsure = (known: KnownCall | undefined): boolean =>
  known?.isWithheld === true || known?.hasOtherKey === true;
