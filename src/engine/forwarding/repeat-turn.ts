import { hasCode } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { isOperation } from '../../core/event/state-operation.ts';
import { type Belief, beliefOf, restates } from '../../core/fleet/belief.ts';
import type { FleetTable } from '../../core/fleet/fleet-table.ts';
import { heldBelief } from '../../core/fleet/settling.ts';
import { arrayAt, given, isObject, type JsonValue, stringAt } from '../../core/json.ts';
import { checkLimit } from '../../core/limits.ts';
import type { Seq } from '../../core/point.ts';
import { commitBelief } from '../believing/commit-belief.ts';
import { type FleetLook, learnAppended } from '../believing/fleet-look.ts';
import type { Judge } from '../believing/judge.ts';
import type { BookEntry, BookTurn } from '../believing/turn-book.ts';
import { append } from '../changing/append.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { branchHead } from '../history/place.ts';
import { Where } from '../history/where.ts';
import { State } from '../state/state.ts';
import { StoredState } from '../state/stored-state.ts';

/** Ids of the original, and the ids that their copies have on the branch. */
export type CopiedIds = Map<string, string>;

/** A recorded turn to repeat, and where. */
export interface Repeating {
  readonly on: OnBranch;
  readonly judge: Judge;
  readonly epoch: Seq;
  /** The id of the `turn.started` on the branch. */
  readonly cause: string;
  readonly copied: CopiedIds;
  /** The fleet of the branch that the turn was recorded on. */
  readonly original: FleetTable;
  /** The look at the branch by which the turn is repeated. */
  readonly look: FleetLook;
  /** Is asked before the turn is begun again, after others appended: throws if the turn must not be begun. */
  readonly confirm: (head: Seq) => Promise<void>;
  /** Hears what was appended; what it does not hear of has to be read. */
  readonly onAppended: (events: readonly Event[]) => void;
}

/** Returns the claims that a claim superseded by name: those that no verdict is about, and that it does not say again. */
function namedBy(entry: BookEntry, did: readonly BookEntry[], original: FleetTable): readonly Belief[] {
  const claim = beliefOf(entry.event);
  const own = did.filter(({ cause }) => cause === entry.id);
  const judged = new Set(
    own.flatMap(({ type, event }) =>
      type === 'contradiction.detected' ? (arrayAt(event.data, 'beliefs') ?? []).map(String) : [],
    ),
  );
  return own.flatMap(({ type, event }) => {
    if (type !== 'belief.superseded') return [];
    const loser = heldBelief(original, stringAt(event.data, 'belief') ?? '')?.belief;
    return loser === undefined || judged.has(loser.id) || restates(loser, claim) ? [] : [loser];
  });
}

/** Returns true if a recorded turn can be repeated on a branch: every claim that it superseded by name is there. */
export function isRepeatable(
  { did }: BookTurn,
  {
    original,
    branch,
    copied,
  }: { readonly original: FleetTable; readonly branch: FleetTable; readonly copied: CopiedIds },
): boolean {
  const own = new Set(did.map(({ id }) => id));
  const stands = (loser: Belief, turn: number): boolean =>
    own.has(loser.id) || (heldBelief(branch, copied.get(loser.id) ?? loser.id)?.end ?? 0) > turn;
  return did
    .filter(({ type }) => type === 'belief.committed')
    .every((entry) => namedBy(entry, did, original).every((loser) => stands(loser, Math.max(loser.turn, entry.turn))));
}

/**
 * Repeats what an agent did in a recorded turn, from its beginning to its end: its claims are settled anew, its state gets
 * new versions, the rest is copied. A turn with one claim, or with none and no state, is one append.
 */
export async function repeatTurn(
  engine: Engine,
  { did }: BookTurn,
  { started, ended, ...repeating }: Repeating & { readonly started: EventDraft; readonly ended: EventDraft },
): Promise<void> {
  let plain: EventDraft[] = [started];
  const taken = (): EventDraft[] => {
    const drafts = plain;
    plain = [];
    return drafts;
  };
  const flush = async (): Promise<void> => {
    const drafts = taken();
    if (drafts.length === 0) return;
    const { on, epoch, confirm } = repeating;
    const events =
      drafts[0] === started
        ? await beginTurn(engine, on, drafts, { epoch, confirm })
        : await append(engine, on.session, drafts, { branch: on.branch, epoch });
    learnAppended(engine, on, events);
    repeating.onAppended(events);
  };
  const acts = did.filter(({ type }) => type !== 'belief.superseded' && !type.startsWith('contradiction.'));
  let isEnded = false;
  for (const [index, entry] of acts.entries()) {
    if (isCommit(entry)) {
      isEnded = index === acts.length - 1;
      const lead = taken();
      // The look that the turn is repeated by is that of the head until the first append.
      const around = { did, lead, trail: isEnded ? [ended] : [], isFirst: lead[0] === started };
      await repeatClaim(engine, entry, around, repeating);
    } else if (entry.type === 'state.committed') {
      await flush();
      await repeatState(engine, entry, repeating);
    } else plain.push(copyOf(engine, entry, repeating));
  }
  if (!isEnded) plain.push(ended);
  await flush();
}

/** Returns true if an entry is a claim that was committed. One that a recorder got is copied: it was never settled. */
const isCommit = ({ type, event }: BookEntry): boolean => type === 'belief.committed' && event.data['settled'] === true;

/**
 * Appends the beginning of a turn, at the head that `confirm` was asked about: two runs forward of one branch do not both begin
 * it.
 */
export async function beginTurn(
  engine: Engine,
  { session, branch }: OnBranch,
  drafts: readonly EventDraft[],
  { epoch, confirm }: Pick<Repeating, 'epoch' | 'confirm'>,
): Promise<readonly Event[]> {
  for (let tries = 1; ; tries++) {
    checkLimit('commitTriesMax', tries, `begin a turn of "${branch}": others keep writing to it`);
    const { head } = await branchHead(engine, session, branch);
    await confirm(head);
    try {
      return await append(engine, session, drafts, { branch, epoch, head });
    } catch (error) {
      if (!hasCode(error, 'append.conflict')) throw error;
    }
  }
}

const causeOf = ({ cause }: BookEntry, { copied, cause: begun }: Repeating): string =>
  (cause === undefined ? undefined : copied.get(cause)) ?? begun;

function copyOf(engine: Engine, entry: BookEntry, repeating: Repeating): EventDraft {
  const { type, version, agent, run, turn, data } = entry.event;
  const id = engine.platform.newId();
  const draft = { id, type, version, ...given({ agent, run }), turn, cause: causeOf(entry, repeating), data };
  repeating.copied.set(entry.id, id);
  return draft;
}

async function repeatClaim(
  engine: Engine,
  entry: BookEntry,
  around: {
    readonly did: readonly BookEntry[];
    readonly lead: readonly EventDraft[];
    readonly trail: readonly EventDraft[];
    readonly isFirst: boolean;
  },
  repeating: Repeating,
): Promise<void> {
  const { did, lead, trail, isFirst } = around;
  const { on, judge, epoch, copied, original, confirm, onAppended } = repeating;
  const { agent, run, claim, topic, kind, value, trust, turn } = beliefOf(entry.event);
  const supersedes = namedBy(entry, did, original).map(({ id }) => copied.get(id) ?? id);
  const about = { claim, kind, trust, turn, ...given({ agent, run, topic, value }) };
  const beside = entry.event.data['beside'] === true;
  const options = { ...about, supersedes, beside, cause: causeOf(entry, repeating) };
  const first = isFirst ? { look: repeating.look, confirm } : {};
  const manner = { judge, epoch, lead, trail, onAppended, ...first };
  const { belief } = await commitBelief(engine, on, options, manner);
  copied.set(entry.id, belief.id);
}

async function repeatState(engine: Engine, entry: BookEntry, repeating: Repeating): Promise<void> {
  const { session, branch } = repeating.on;
  const { event } = entry;
  const during = { turn: event.turn, cause: causeOf(entry, repeating), epoch: repeating.epoch };
  const where = Where.onHead(engine, session, branch);
  const state = new State(new StoredState({ where, on: repeating.on, agent: event.agent ?? 'default', during }));
  const written = await state.transaction(
    (tx) => {
      for (const operation of arrayAt(event.data, 'operations') ?? []) {
        if (!isObject(operation) || !isOperation(operation)) continue;
        const of = tx.as(String(operation['agent']));
        const key = String(operation['key']);
        if (operation['op'] === 'delete') of.delete(key);
        else of.write(key, (operation['value'] ?? null) as JsonValue);
      }
    },
    given({ run: event.run }),
  );
  repeating.copied.set(entry.id, written.txn);
}
