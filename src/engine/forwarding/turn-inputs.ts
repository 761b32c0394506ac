import { canonicalJson } from '../../core/canonical-json.ts';
import { activeAt, registrationAt } from '../../core/fleet/active.ts';
import { type Belief, contentOf } from '../../core/fleet/belief.ts';
import type { Moment } from '../../core/fleet/registration.ts';
import type { Seq } from '../../core/point.ts';
import type { FleetLook } from '../believing/fleet-look.ts';
import type { BookEntry, BookTurn, TurnBook } from '../believing/turn-book.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { scanState, stateView } from '../state/lookup.ts';

/** One thing that goes into a turn: by content, and the topic if it is a claim. */
interface Input {
  readonly is: string;
  readonly topic?: string | undefined;
}

/** Everything that goes into a turn of an agent, equal by content for equal turns. */
export interface TurnInputs {
  readonly who: string;
  readonly own: readonly BookEntry[];
  readonly sees: readonly Input[];
  readonly state: string;
  /** Whether something that went into it was erased: then it is unknown whether it is the same. */
  readonly isUnknown: boolean;
}

/** Where inputs are looked up: a fleet, a book of the same branch, and the moment. */
export interface InputsOf {
  readonly look: FleetLook;
  readonly book: TurnBook;
  readonly moment: Moment;
  /** Only what comes before this seq. */
  readonly before: number;
}

/** Returns everything that goes into a turn of an agent: who it is, what it did, what it may see, and its state. */
export async function inputsOf(engine: Engine, agent: string, at: InputsOf): Promise<TurnInputs> {
  const { look, book, moment, before } = at;
  const who = registrationAt(look.table, agent, moment);
  const { since: _since, seq: _seq, agent: _agent, ...fields } = who ?? {};
  const own = book.ownOf(agent, { turn: moment.turn, before });
  const sees = activeAt(look.table, moment, { as: agent });
  return {
    who: canonicalJson(fields),
    own,
    sees: sees.map(seenInput).sort((a, b) => (a.is < b.is ? -1 : a.is > b.is ? 1 : 0)),
    state: book.hasState(agent) ? await stateText(engine, look.place, agent, before) : '[]',
    isUnknown: own.some(({ isErased }) => isErased),
  };
}

const claimsOf = ({ own, sees }: TurnInputs): readonly Input[] => [
  ...own.filter(({ type }) => type === 'belief.committed').map(claimInput),
  ...sees,
];

const claimInput = ({ content, topic }: BookEntry): Input => ({ is: `did ${content ?? ''}`, topic });

const seenTexts = new WeakMap<Belief, string>();

function seenInput(belief: Belief): Input {
  const known = seenTexts.get(belief);
  const is = known ?? canonicalJson({ ...contentOf(belief), agent: belief.agent ?? null, trust: belief.trust });
  if (known === undefined) seenTexts.set(belief, is);
  return { is, topic: belief.topic };
}

async function stateText(engine: Engine, place: Place, agent: string, before: number): Promise<string> {
  const seq = before > place.seq ? place.seq : ((before - 1) as Place['seq']);
  const held: [string, unknown][] = [];
  for await (const { key, value, erased } of scanState(stateView(engine, { ...place, seq }), agent, ''))
    held.push([key, erased === true ? 'erased' : value]);
  return JSON.stringify(held);
}

/** Returns true if two sets of inputs are equal by content. */
export function sameInputs(left: TurnInputs, right: TurnInputs): boolean {
  return (
    !left.isUnknown &&
    !right.isUnknown &&
    left.who === right.who &&
    left.state === right.state &&
    left.own.length === right.own.length &&
    left.sees.length === right.sees.length &&
    left.sees.every(({ is }, index) => is === right.sees[index]?.is) &&
    left.own.every(({ content }, index) => content === right.own[index]?.content)
  );
}

/**
 * Returns the messages that the model calls of a recorded turn were sent and that are not on a branch; undefined if the
 * record does not say what a call was sent, or something of it was erased. A message that the turn itself put together
 * was in no event before: it follows from what the agent was given, unless a message of no agent changed on the branch,
 * which any agent may have read.
 */
export function missingMessages(
  { begun, did }: BookTurn,
  { original, branch }: { readonly original: TurnBook | undefined; readonly branch: TurnBook },
): readonly string[] | undefined {
  const made = new Set<string>();
  const isPutTogether = (is: string, before: Seq): boolean =>
    !branch.changes.hasCommonMessages && original?.hadMessage(is, { before, notIn: begun.id }) === false;
  const asked = new Set<string>();
  const missing: string[] = [];
  for (const entry of did) {
    if (entry.isErased || entry.messages === undefined) return undefined;
    const isSent = entry.type === 'call.started' || entry.type === 'run.started';
    for (const { is, asks, answers } of entry.messages) {
      // The answer of a tool that the turn itself called is part of what was done.
      const isMade = made.has(is) || (answers.length > 0 && answers.every((id) => asked.has(id)));
      if (isSent && !isMade && !branch.hasMessage(is) && !isPutTogether(is, entry.seq)) missing.push(is);
      made.add(is);
      for (const id of asks) asked.add(id);
    }
  }
  return missing;
}

/** Returns the topics on which two sets of inputs differ. */
export function topicsThatDiffer(left: TurnInputs, right: TurnInputs | undefined): ReadonlySet<string | undefined> {
  const one = claimsOf(left);
  const other = right === undefined ? [] : claimsOf(right);
  return new Set([...lacking(one, other), ...lacking(other, one)]);
}

function lacking(list: readonly Input[], other: readonly Input[]): (string | undefined)[] {
  const rest = new Map<string, number>();
  for (const { is } of other) rest.set(is, (rest.get(is) ?? 0) + 1);
  return list
    .filter(({ is }) => {
      const left = rest.get(is) ?? 0;
      rest.set(is, left - 1);
      return left <= 0;
    })
    .map(({ topic }) => topic);
}
