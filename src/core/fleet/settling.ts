import { type Belief, restates } from './belief.ts';
import { type FleetTable, type Held, indexOf } from './fleet-table.ts';

/** Two claims on one topic that would both stand from a turn on. */
export interface Meeting {
  /** The claim that was there before. */
  readonly other: Belief;
  /** The first turn at which both are there. */
  readonly turn: number;
  /** Whether one agent says the same again: then there is no contradiction, and the later one stands. */
  readonly isSame: boolean;
}

/** The verdict about a meeting: which of the two stands, and by which rule. */
export interface Verdict {
  readonly winner: 'claim' | 'other';
  /** The rule; undefined if the two do not contradict each other but one repeats the other. */
  readonly strategy?: string;
  /** Why `last-write-wins` decided instead of the rule that was asked for. */
  readonly fallback?: string;
}

/** A meeting that ended one of its claims. */
export interface Settled extends Meeting {
  readonly verdict: Verdict;
}

/** A claim that is compared with others, and the turn at which it has ended; infinite if it stands. */
export interface Contender {
  readonly belief: Belief;
  readonly end: number;
}

/**
 * Returns the meetings of a claim with every claim on its topic that would ever stand at the same turn, by rising turn.
 * Claims that `ended` names have ended at their turn already, whatever the table says.
 */
export function meetingsOf(
  table: FleetTable,
  { belief, end }: Contender,
  ended: ReadonlyMap<Belief, number> = new Map(),
): Meeting[] {
  const meetings: Meeting[] = [];
  for (const { belief: other, end: otherEnd } of indexOf(table).onTopic(belief.topic)?.endingAfter(belief.turn) ?? []) {
    if (other.seq === belief.seq || other.erased === true) continue;
    const turn = Math.max(other.turn, belief.turn);
    if (turn < Math.min(otherEnd, ended.get(other) ?? otherEnd) && turn < end)
      meetings.push({ other, turn, isSame: restates(belief, other) });
  }
  return meetings.sort((a, b) => a.turn - b.turn || a.other.seq - b.other.seq);
}

/**
 * Settles the meetings of a claim: each ends one of the two at the turn at which they meet. `judge` answers undefined if
 * both claims may stand. A claim that has lost supersedes nothing at that turn or later, so nothing after its
 * first defeat is judged.
 */
export async function settleMeetings(
  meetings: readonly Meeting[],
  judge: (meeting: Meeting) => Promise<Verdict | undefined> | Verdict | undefined,
): Promise<Settled[]> {
  const won: Settled[] = [];
  for (const meeting of meetings) {
    const judged = judge(meeting);
    const verdict = judged instanceof Promise ? await judged : judged;
    if (verdict === undefined) continue;
    if (verdict.winner === 'claim') won.push({ ...meeting, verdict });
    else {
      const before = won.filter(({ turn }) => turn < meeting.turn);
      return [...before, { ...meeting, verdict }];
    }
  }
  return won;
}

/** Returns the claim of a table that an id names. */
export function heldBelief(table: FleetTable, id: string): Held | undefined {
  return indexOf(table).byId.get(id);
}
