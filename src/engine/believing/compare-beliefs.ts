import {
  type AnswerDifference,
  type Attribution,
  agentDifferences,
  type BeliefsDiff,
  type ClaimDifference,
  claimDifferences,
  type FoundClaim,
  type Side,
  type TopicDifference,
} from '../../core/fleet/beliefs-diff.ts';
import type { FleetTable } from '../../core/fleet/fleet-table.ts';
import { given } from '../../core/json.ts';
import { checkTurn } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { ChangeTrail, type TrailOf } from './change-trail.ts';
import { fleetAtPlace } from './fleet-look.ts';
import { takenOut } from './taken-out.ts';
import { type BookEntry, TurnBook } from './turn-book.ts';

/** Compares the beliefs, agents and answers of two histories, and says what each difference goes back to. */
export async function compareBeliefs(engine: Engine, left: Place, right: Place, fromTurn = 0): Promise<BeliefsDiff> {
  checkTurn(fromTurn);
  const sides = { left: await sideOf(engine, left), right: await sideOf(engine, right) };
  const trails: Readonly<Record<Side, ChangeTrail>> = {
    left: new ChangeTrail(sides.left, sides.right),
    right: new ChangeTrail(sides.right, sides.left),
  };
  const claims = claimDifferences(sides.left.table, sides.right.table, fromTurn).map(({ other, ...found }) => ({
    ...found,
    attribution: claimAttribution({ ...found, ...given({ other }) }, trails),
  }));
  const agents = agentDifferences(sides.left.table, sides.right.table).map((found) => ({
    ...found,
    attribution: bestOf([trails.right.ofAgent(found.agent), trails.left.ofAgent(found.agent)]),
  }));
  const answers = answerDifferences(sides.left.book, sides.right.book, fromTurn).map(
    ({ agent, turn, left: mine, right: other }): AnswerDifference => ({
      agent,
      turn,
      left: mine.map(({ seq }) => seq),
      right: other.map(({ seq }) => seq),
      attribution: bestOf([
        trails.right.ofTurn({ agent, turn, here: other, there: mine }),
        trails.left.ofTurn({ agent, turn, here: mine, there: other }),
      ]),
    }),
  );
  const identical = claims.length + agents.length + answers.length === 0;
  return { identical, fromTurn, topics: byTopic(claims), agents, answers };
}

async function sideOf(engine: Engine, place: Place): Promise<TrailOf> {
  const { table } = await fleetAtPlace(engine, place);
  const on = { session: place.session, branch: place.record.branch };
  const book = await new TurnBook(engine, on, { at: place.seq }).readOn();
  return { table: tableUpTo(table, place.seq), book, taken: await takenOut(engine, place) };
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
  { side, belief, other, endsAt }: FoundClaim,
  trails: Readonly<Record<Side, ChangeTrail>>,
): Attribution {
  if (other !== undefined) {
    const turn = Math.min(endsAt.left ?? Number.POSITIVE_INFINITY, endsAt.right ?? Number.POSITIVE_INFINITY);
    const ends = { left: trails.left.endingOf(belief, turn), right: trails.right.endingOf(other, turn) };
    return bestOf([trails.right.ofEnding(other, turn, ends.left), trails.left.ofEnding(belief, turn, ends.right)]);
  }
  // A claim that one side lacks was not made there: its turn ran differently, or the agent was not there to make it.
  return bestOf([trails[side].ofClaim(belief), trails[side === 'left' ? 'right' : 'left'].ofAbsence(belief)]);
}

const ranks = { certain: 0, possible: 1, unknown: 2 } as const;

/** Returns the surest of several attributions. */
function bestOf(found: readonly Attribution[]): Attribution {
  const [best] = [...found].sort((a, b) => ranks[a.how] - ranks[b.how]);
  return best ?? { how: 'unknown', to: [] };
}

function byTopic(claims: readonly ClaimDifference[]): TopicDifference[] {
  const topics = Map.groupBy(claims, ({ belief }) => belief.topic ?? null);
  return [...topics].map(([topic, held]) => ({ topic, claims: held }));
}

const answerTypes = /^(call\.(started|ended)|message\.added)$/;

/** A turn of an agent whose calls and answers differ. */
interface FoundAnswers {
  readonly agent: string;
  readonly turn: number;
  readonly left: readonly BookEntry[];
  readonly right: readonly BookEntry[];
}

/** Returns the turns of agents in which the calls and answers differ. */
function answerDifferences(left: TurnBook, right: TurnBook, fromTurn: number): readonly FoundAnswers[] {
  const isAnswer = ({ type, agent, turn }: BookEntry): boolean =>
    answerTypes.test(type) && agent !== undefined && turn >= fromTurn;
  const grouped = (book: TurnBook): Map<string, BookEntry[]> =>
    Map.groupBy(book.mine.filter(isAnswer), ({ turn, agent }) => JSON.stringify([turn, agent]));
  const [mine, other] = [grouped(left), grouped(right)];
  return [...new Set([...mine.keys(), ...other.keys()])].flatMap((key) => {
    const [one, two] = [mine.get(key) ?? [], other.get(key) ?? []];
    const isSame = one.length === two.length && one.every(({ content }, index) => content === two[index]?.content);
    const [turn, agent] = JSON.parse(key) as [number, string];
    return isSame ? [] : [{ agent, turn, left: one, right: two }];
  });
}
