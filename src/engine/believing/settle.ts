import type { Event, EventDraft } from '../../core/event/event.ts';
import { always } from '../../core/fleet/active.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import { addToFleet, type FleetTable, strategyAt } from '../../core/fleet/fleet-table.ts';
import { type Contender, heldBelief, meetingsOf, type Settled, settleMeetings } from '../../core/fleet/settling.ts';
import { given } from '../../core/json.ts';
import { type Digest, later, type Seq, seq } from '../../core/point.ts';
import { type Judge, lastWriteWins } from './judge.ts';

/** A pair of claims that was settled. */
export interface SettledPair {
  /** The first turn at which both would have stood. */
  readonly turn: number;
  /** The claim that was held against others. */
  readonly belief: string;
  /** The claim that it was held against. */
  readonly against: Belief;
  /** The id of the claim that stands. */
  readonly winner: string;
  /** The rule; left out if an agent only said the same again. */
  readonly strategy?: string;
  /** Why `last-write-wins` decided instead of the rule that was asked for. */
  readonly fallback?: string;
}

/** Returns the rule that settles contradictions in a table. */
export function strategyIn(table: FleetTable): string {
  return strategyAt(table, always) ?? lastWriteWins;
}

/** Compares a claim with every claim on its topic that would ever stand at the same turn. */
export async function settleClaim(
  table: FleetTable,
  contender: Contender,
  { judge, ended }: { readonly judge: Judge; readonly ended?: ReadonlyMap<Belief, number> },
): Promise<readonly Settled[]> {
  const meetings = meetingsOf(table, contender, ended);
  return settleMeetings(meetings, judge.verdictOn(contender.belief, strategyIn(table)));
}

/** Returns the event that ends a claim. The winner is its cause, so that taking the winner back brings the loser back. */
export function supersededDraft(loser: Belief, winner: Belief, turn: number): EventDraft {
  const data = { belief: loser.id, by: winner.id, ...given({ topic: loser.topic }) };
  return { type: 'belief.superseded', turn, cause: winner.id, data };
}

/** Returns the events that settled meetings write. The supersessions come first, so that one side stands at every seq after. */
export function settledDrafts(claim: Belief, settled: readonly Settled[], cause: string): EventDraft[] {
  const topic = given({ topic: claim.topic });
  const ends = settled.map(({ other, turn, verdict: { winner } }) =>
    winner === 'claim' ? supersededDraft(other, claim, turn) : supersededDraft(claim, other, turn),
  );
  const verdicts = settled.flatMap(({ other, turn, verdict: { winner, strategy, fallback } }): EventDraft[] => {
    if (strategy === undefined) return [];
    const won = winner === 'claim' ? claim.id : other.id;
    return [
      { type: 'contradiction.detected', turn, cause, data: { beliefs: [other.id, claim.id], ...topic } },
      { type: 'contradiction.settled', turn, cause, data: { winner: won, strategy, ...given({ fallback }), ...topic } },
    ];
  });
  return [...ends, ...verdicts];
}

/** Returns settled meetings as the caller of a verb gets them. */
export function settledPairs(claim: Belief, settled: readonly Settled[]): SettledPair[] {
  return settled.map(({ other, turn, verdict: { winner, strategy, fallback } }) => ({
    turn,
    belief: claim.id,
    against: other,
    winner: winner === 'claim' ? claim.id : other.id,
    ...given({ strategy, fallback }),
  }));
}

/** The events that settle several claims one after the other, and what they decided. */
export interface SettledClaims {
  readonly drafts: readonly EventDraft[];
  readonly pairs: readonly SettledPair[];
}

/**
 * Compares claims of a table with what stands in it, one after the other. The table is changed: each claim meets the
 * others as those before it left them.
 */
export async function settleEach(
  table: FleetTable,
  claims: readonly Belief[],
  { judge, causeOf }: { readonly judge: Judge; readonly causeOf: (claim: Belief) => string },
): Promise<SettledClaims> {
  const drafts: EventDraft[] = [];
  const pairs: SettledPair[] = [];
  for (const claim of claims) {
    const held = heldBelief(table, claim.id);
    if (held === undefined || held.belief.erased === true) continue;
    const settled = await settleClaim(table, held, { judge });
    const written = settledDrafts(held.belief, settled, causeOf(held.belief));
    for (const draft of written) addToFleet(table, supposed(draft));
    drafts.push(...written);
    pairs.push(...settledPairs(held.belief, settled));
  }
  return { drafts, pairs };
}

/** Returns a draft as an event that comes after everything stored; only what a table reads of it matters. */
function supposed({ type, turn = 0, cause, data = {} }: EventDraft): Event {
  const base = { session: '', branch: '', id: '', time: '', version: 1, digest: '' as Digest };
  return { ...base, seq: afterAll, type, turn, ...given({ cause }), data: data as Event['data'] };
}

const afterAll: Seq = later(seq(Number.MAX_SAFE_INTEGER - 1), 1);
