import { RepriseError } from '../../core/error.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonObject, type JsonValue, setKey } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Point, Seq } from '../../core/point.ts';
import { mainBranch, type PointInput } from '../../core/ref.ts';
import type { ForkOptions } from '../../core/session/session-log.ts';
import { editOptionNames, editsOf } from '../../core/view/edit.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { resolveEdits } from '../editing/resolve-edits.ts';
import { asItIs, supposing } from '../history/hypothesis.ts';
import { metadataAt } from '../history/metadata.ts';
import { digestAt, findPlace, type Place, placeAt, pointOf } from '../history/place.ts';
import { signed } from './mark.ts';
import { rewoundToTurn, selectedTurn } from './rewind.ts';
import { write } from './write.ts';

const forkKeys: KnownKeys = optionKeys<ForkOptions>('fork', {
  ...editOptionNames,
  name: true,
  reason: true,
  agent: true,
  metadata: true,
});

/** A new branch and where it came from. */
export interface Forked {
  readonly branch: string;
  readonly parent: Point;
  readonly head: Seq;
  /** What its edits left in place although it depended on what went. */
  readonly dependents: readonly Seq[];
}

/**
 * Makes a branch at a point, with its edits in the same atomic append. Nothing is copied, and the source is untouched.
 * `{ turn: N }` forks at the head and takes later turns out of the view; `@turn:N` in a string forks at that point.
 */
export async function fork(
  engine: Engine,
  session: string,
  point: PointInput,
  options: ForkOptions = {},
): Promise<Forked> {
  checkKeys(options, forkKeys);
  const turn = selectedTurn(point);
  const place =
    turn === undefined
      ? await findPlace(engine, session, point)
      : await placeAt(engine, session, (point as { readonly branch?: string }).branch ?? mainBranch, { kind: 'head' });
  if (options.name !== undefined) return forkTo(engine, place, checkId('branch', options.name), turn, options);
  const name = await freeName(engine, place);
  try {
    return await forkTo(engine, place, name, turn, options);
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== 'branch.exists') throw error;
    // Another fork without a name took it in between: the next one is nobody else's.
    return forkTo(engine, place, `${name}-${engine.platform.newId().slice(-12)}`, turn, options);
  }
}

async function forkTo(
  engine: Engine,
  place: Place,
  branch: string,
  turn: number | undefined,
  options: ForkOptions,
): Promise<Forked> {
  const parent = pointOf(place);
  const turned = turn === undefined ? [] : [await rewoundToTurn(engine, place, turn)];
  const forked = await forkedDraft(engine, place, options);
  // Edits see the branch as it begins, which with a turn is not the whole of its parent.
  const begun = await supposing(engine, asItIs(place, branch), [forked, ...turned]);
  const { drafts, dependents } = await resolveEdits(engine, begun.hypothesis, editsOf(options));
  const events = await write(engine, {
    session: place.session,
    target: { kind: 'fork', branch, parent },
    drafts: [...begun.drafts, ...drafts].map((draft) =>
      signed(draft, { ...optionalAgent(options), ...given({ turn }) }),
    ),
    condition: { kind: 'any' },
  });
  return { branch, parent, head: events.at(-1)?.seq ?? parent.seq, dependents };
}

const optionalAgent = ({ agent }: ForkOptions): { readonly agent?: string } => given({ agent });

async function forkedDraft(
  engine: Engine,
  place: Place,
  { reason, metadata: added }: ForkOptions,
): Promise<EventDraft> {
  const inherited = await metadataAt(engine, place);
  const overlaid = overlay(inherited, added ?? {});
  const digest = await digestAt(engine, place);
  return {
    type: 'branch.forked',
    data: {
      parent: { seq: place.seq, digest },
      ...given({ reason }),
      ...(Object.keys({ ...inherited, ...added }).length === 0 ? {} : { metadata: overlaid }),
    },
  };
}

/** The source's metadata overlaid by what is given; a null removes a key. */
function overlay(inherited: JsonObject, given: JsonObject): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const [key, value] of [...Object.entries(inherited), ...Object.entries(given)]) {
    if (value === null) delete result[key];
    else setKey(result, key, value);
  }
  return result;
}

/** A name after the point that no branch of the session has. Looked for by doubling and halving: sessions can have many. */
async function freeName(engine: Engine, place: Place): Promise<string> {
  const base = `${place.record.branch.slice(0, 60).toWellFormed()}-${place.seq}`;
  const nameOf = (count: number): string => (count === 1 ? base : `${base}-${count}`);
  const isTaken = async (count: number): Promise<boolean> =>
    (await engine.store.branchHead({ ...sessionRef(engine, place.session), branch: nameOf(count) })) !== undefined;
  let taken = 0;
  let free = 1;
  while (await isTaken(free)) [taken, free] = [free, free * 2];
  while (free - taken > 1) {
    const between = (taken + free) >> 1;
    if (await isTaken(between)) taken = between;
    else free = between;
  }
  return nameOf(free);
}
