import {
  type AnswerDifference,
  type Attribution,
  agentDifferences,
  type BeliefsDiff,
  type ClaimDifference,
  claimDifferences,
  type Side,
  type TopicDifference,
} from '../../core/fleet/beliefs-diff.ts';
import type { FleetTable } from '../../core/fleet/fleet-table.ts';
import { checkTurn, type Ref } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, placeAt } from '../history/place.ts';
import { ChangeTrail } from './change-trail.ts';
import { fleetAtPlace } from './fleet-look.ts';
import { type BookEntry, TurnBook } from './turn-book.ts';

interface ComparedSide {
  readonly table: FleetTable;
  readonly book: TurnBook;
}

/** Compares the beliefs, agents and answers of two histories, and says what each difference goes back to. */
export async function compareBeliefs(engine: Engine, left: Ref, right: Ref, fromTurn = 0): Promise<BeliefsDiff> {
  checkTurn(fromTurn);
  const sides = { left: await sideOf(engine, left), right: await sideOf(engine, right) };
  const trails: Readonly<Record<Side, ChangeTrail>> = {
    left: new ChangeTrail(sides.left.book, sides.right.book, sides.left.table),
    right: new ChangeTrail(sides.right.book, sides.left.book, sides.right.table),
  };
  const claims = claimDifferences(sides.left.table, sides.right.table, fromTurn).map((found) => ({
    ...found,
    attribution: claimAttribution(found, trails),
  }));
  const agents = agentDifferences(sides.left.table, sides.right.table).map((found) => ({
    ...found,
    attribution: bestOf([trails.right.ofAgent(found.agent), trails.left.ofAgent(found.agent)]),
  }));
  const answers = answerDifferences(sides.left.book, sides.right.book, fromTurn).map((found) => ({
    ...found,
    attribution: bestOf([trails.right.ofTurn(found), trails.left.ofTurn(found)]),
  }));
  const identical = claims.length + agents.length + answers.length === 0;
  return { identical, fromTurn, topics: byTopic(claims), agents, answers };
}

async function sideOf(engine: Engine, ref: Ref): Promise<ComparedSide> {
  const place: Place = await placeAt(engine, ref.session, ref.branch, ref.at);
  const { table } = await fleetAtPlace(engine, place);
  const on = { session: ref.session, branch: ref.branch };
  const book = await new TurnBook(engine, on, { at: place.seq }).readOn();
  return { table: tableUpTo(table, place.seq), book };
}

/** Returns a table without what came after a seq. */
function tableUpTo(table: FleetTable, seq: number): FleetTable {
  const upTo = <Item extends { readonly seq: number }>(list: readonly Item[]): Item[] =>
    list.filter((item) => item.seq <= seq);
  return {
    beliefs: upTo(table.beliefs),
    endings: upTo(table.endings),
    agents: upTo(table.agents),
    tasks: upTo(table.tasks),
    strategies: upTo(table.strategies),
  };
}

function claimAttribution(
  { kind, side, belief, endsAt }: Omit<ClaimDifference, 'attribution'>,
  trails: Readonly<Record<Side, ChangeTrail>>,
): Attribution {
  const other: Side = side === 'left' ? 'right' : 'left';
  if (kind === 'ended-differently') {
    const turn = Math.min(endsAt.left ?? Number.POSITIVE_INFINITY, endsAt.right ?? Number.POSITIVE_INFINITY);
    return bestOf([trails.right.ofEnding(belief, turn), trails.left.ofEnding(belief, turn)]);
  }
  // A claim that one side lacks was not made there: its turn ran differently, or nobody was there to make it.
  return bestOf([trails[side].ofClaim(belief), trails[other].ofAbsence(belief)]);
}

const ranks = { certain: 0, possible: 1, unknown: 2 } as const;

/** Returns the surest of several attributions. */
function bestOf(found: readonly Attribution[]): Attribution {
  const [best] = [...found].sort((a, b) => ranks[a.how] - ranks[b.how]);
  return best ?? { how: 'unknown', to: [] };
}

function byTopic(claims: readonly ClaimDifference[]): TopicDifference[] {
  const topics = new Map<string | null, ClaimDifference[]>();
  for (const claim of claims) {
    const topic = claim.belief.topic ?? null;
    topics.set(topic, [...(topics.get(topic) ?? []), claim]);
  }
  return [...topics].map(([topic, held]) => ({ topic, claims: held }));
}

const answerTypes = /^(call\.(started|ended)|message\.added)$/;

/** Returns the turns of agents in which the calls and answers differ. */
function answerDifferences(
  left: TurnBook,
  right: TurnBook,
  fromTurn: number,
): readonly Omit<AnswerDifference, 'attribution'>[] {
  const grouped = (book: TurnBook): Map<string, BookEntry[]> => {
    const groups = new Map<string, BookEntry[]>();
    for (const entry of book.mine) {
      const { type, agent, turn } = entry;
      if (!answerTypes.test(type) || agent === undefined || turn < fromTurn) continue;
      const key = JSON.stringify([turn, agent]);
      groups.set(key, [...(groups.get(key) ?? []), entry]);
    }
    return groups;
  };
  const [mine, other] = [grouped(left), grouped(right)];
  return [...new Set([...mine.keys(), ...other.keys()])].flatMap((key) => {
    const [one, two] = [mine.get(key) ?? [], other.get(key) ?? []];
    const isSame = one.length === two.length && one.every(({ content }, index) => content === two[index]?.content);
    const [turn, agent] = JSON.parse(key) as [number, string];
    return isSame ? [] : [{ agent, turn, left: one.map(({ seq }) => seq), right: two.map(({ seq }) => seq) }];
  });
}
