import { canonicalJson } from '../canonical-json.ts';
import { given } from '../json.ts';
import { agentsAt, always } from './active.ts';
import { type Belief, contentOf } from './belief.ts';
import { type FleetTable, indexOf } from './fleet-table.ts';
import type { Registration } from './registration.ts';

/** One of two histories that are compared. */
export type Side = 'left' | 'right';

/**
 * The changes that a difference goes back to. `certain`: the chain of reasons is recorded. `possible`: only scope and turn allow it.
 * `unknown`: nothing that was changed can have led to it.
 */
export interface Attribution {
  readonly how: 'certain' | 'possible' | 'unknown';
  /** The mutations, spawns and edits, by the ids of their events. */
  readonly to: readonly string[];
}

/** A claim that only one side has, or that ended differently. */
export interface ClaimDifference {
  readonly kind: 'only' | 'ended-differently';
  /** The side that has the claim; `left` for one that both have. */
  readonly side: Side;
  readonly belief: Belief;
  /** From which turn on it is superseded on each side; null if it stands, left out if the side does not have it. */
  readonly endsAt: Readonly<Partial<Record<Side, number | null>>>;
  readonly attribution: Attribution;
}

/** The claims on one topic that differ. */
export interface TopicDifference {
  /** Null for claims without a topic. */
  readonly topic: string | null;
  readonly claims: readonly ClaimDifference[];
}

/** An agent that only one side has, or that is somebody else on each. */
export interface AgentDifference {
  readonly agent: string;
  readonly left?: Registration;
  readonly right?: Registration;
  readonly attribution: Attribution;
}

/** The calls and answers of one agent in one turn that differ, by the seqs of their events. */
export interface AnswerDifference {
  readonly agent: string;
  readonly turn: number;
  readonly left: readonly number[];
  readonly right: readonly number[];
  readonly attribution: Attribution;
}

/** How the beliefs of two histories differ: by topic, agent and turn. */
export interface BeliefsDiff {
  readonly identical: boolean;
  readonly fromTurn: number;
  readonly topics: readonly TopicDifference[];
  readonly agents: readonly AgentDifference[];
  readonly answers: readonly AnswerDifference[];
}

type Unattributed<Difference> = Omit<Difference, 'attribution'>;

/** A difference of claims that was found; `other` is the claim of the right side if both have it. */
export type FoundClaim = Unattributed<ClaimDifference> & { readonly other?: Belief };

const textOf = (belief: Belief): string =>
  canonicalJson([contentOf(belief), belief.agent ?? null, belief.trust, belief.turn, belief.erased === true]);

const endText = (end: number): number | null => (end === Number.POSITIVE_INFINITY ? null : end);

/** Returns the claims from a turn on that differ between two tables: those of one side alone, and those that ended differently. */
export function claimDifferences(left: FleetTable, right: FleetTable, fromTurn: number): readonly FoundClaim[] {
  const late = indexOf(right).held.filter(({ belief }) => belief.turn >= fromTurn);
  const rest = Map.groupBy(late, ({ belief }) => textOf(belief));
  const found: FoundClaim[] = [];
  for (const { belief, end } of indexOf(left).held) {
    if (belief.turn < fromTurn && indexOf(right).byId.get(belief.id)?.end === end) continue;
    const other = belief.turn < fromTurn ? indexOf(right).byId.get(belief.id) : rest.get(textOf(belief))?.shift();
    const endsAt = { left: endText(end) };
    if (other === undefined) {
      if (belief.turn >= fromTurn) found.push({ kind: 'only', side: 'left', belief, endsAt });
    } else if (other.end !== end && Math.min(other.end, end) >= fromTurn)
      found.push({
        kind: 'ended-differently',
        side: 'left',
        belief,
        other: other.belief,
        endsAt: { ...endsAt, right: endText(other.end) },
      });
  }
  for (const held of [...rest.values()].flat())
    found.push({ kind: 'only', side: 'right', belief: held.belief, endsAt: { right: endText(held.end) } });
  return found.sort((a, b) => a.belief.turn - b.belief.turn || a.belief.seq - b.belief.seq);
}

const fieldsOf = (who: Registration): string => canonicalJson({ ...who, seq: 0, since: 0 } as never);

/** Returns the agents that differ between two tables. */
export function agentDifferences(left: FleetTable, right: FleetTable): readonly Unattributed<AgentDifference>[] {
  const sides = [left, right].map((table) => new Map(agentsAt(table, always).map((who) => [who.agent, who])));
  const [mine, other] = sides as [Map<string, Registration>, Map<string, Registration>];
  return [...new Set([...mine.keys(), ...other.keys()])].flatMap((agent) => {
    const [one, two] = [mine.get(agent), other.get(agent)];
    if (one !== undefined && two !== undefined && fieldsOf(one) === fieldsOf(two)) return [];
    return [{ agent, ...given({ left: one, right: two }) }];
  });
}
