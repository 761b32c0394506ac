import { hasCode } from '../../core/error.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonObject, type JsonValue, setKey } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Digest, Point, Seq } from '../../core/point.ts';
import type { ForkOptions } from '../../core/session/session-log.ts';
import { editOptionNames, editsOf } from '../../core/view/edit.ts';
import type { Engine } from '../context/engine.ts';
import { resolveEdits } from '../editing/resolve-edits.ts';
import { anchorDigest } from '../history/anchor.ts';
import { hypothesisAt, supposeAppended } from '../history/hypothesis.ts';
import { metadataAt } from '../history/metadata.ts';
import { hasBranch, type Place, pointOf } from '../history/place.ts';
import type { Told } from '../history/where.ts';
import { signed } from './mark.ts';
import { rewoundToTurn } from './rewind.ts';
import { write } from './write.ts';

const forkKeys: KnownKeys = optionKeys<ForkOptions>('fork', {
  ...editOptionNames,
  name: 'text',
  reason: 'text',
  agent: 'text',
  metadata: 'object',
});

/** A new branch and where it came from. */
export interface Forked {
  readonly branch: string;
  readonly parent: Point;
  readonly head: Seq;
  /** Seqs that its edits left in place although they depend on events that the edits took out. */
  readonly dependents: readonly Seq[];
}

/** Makes a branch at a place, with its edits in the same atomic append. Nothing is copied, and the source is untouched. */
export async function fork(engine: Engine, { place, story }: Told, options: ForkOptions = {}): Promise<Forked> {
  checkKeys(options, forkKeys);
  const source = { place, digest: await anchorDigest(engine, place), turn: story };
  if (options.name !== undefined) return forkTo(engine, source, checkId('branch', options.name), options);
  const name = await freeName(engine, place);
  try {
    return await forkTo(engine, source, name, options);
  } catch (error) {
    if (!hasCode(error, 'branch.exists')) throw error;
    // A different fork without a name took it in between: a random name is free.
    return forkTo(engine, source, `${name}-${engine.platform.newId().slice(-12)}`, options);
  }
}

/** Where to fork, the digest there, and in story time the last turn that the branch begins with. */
interface ForkSource {
  readonly place: Place;
  readonly digest: Digest;
  readonly turn: number | undefined;
}

async function forkTo(
  engine: Engine,
  { place, digest, turn }: ForkSource,
  branch: string,
  options: ForkOptions,
): Promise<Forked> {
  const parent = pointOf(place);
  const edits = editsOf(options);
  const marks = [await forkedDraft(engine, { place, digest, turn }, options)];
  if (turn !== undefined) marks.push(await rewoundToTurn(engine, place, turn));
  // Edits see the branch as it begins, which with a turn is not the whole of its parent.
  const check = edits.length === 0 ? 'write' : 'encode';
  const start = await supposeAppended(engine, hypothesisAt(place, branch), marks, check);
  const { drafts, dependents } = await resolveEdits(engine, start.hypothesis, edits, 'write');
  const who = given({ agent: options.agent, turn });
  const events = await write(engine, {
    session: place.session,
    target: { kind: 'fork', branch, parent },
    drafts: [...start.drafts, ...drafts].map((draft) => signed(draft, who)),
    condition: { kind: 'any' },
  });
  return { branch, parent, head: events.at(-1)?.seq ?? parent.seq, dependents };
}

/** Returns the event that begins a branch: where it comes from, and the metadata it takes along. */
export async function forkedDraft(
  engine: Engine,
  { place, digest, turn }: ForkSource,
  { reason, metadata: added }: ForkOptions,
): Promise<EventDraft> {
  const inherited = inheritable(await metadataAt(engine, place));
  const overlaid = overlay(inherited, added ?? {});
  return {
    type: 'branch.forked',
    data: {
      parent: { seq: place.seq, digest },
      ...given({ turn, reason }),
      ...(Object.keys({ ...inherited, ...added }).length === 0 ? {} : { metadata: overlaid }),
    },
  };
}

/** Leaves out what Reprise keeps about one branch, such as the receipt of an experiment. */
function inheritable(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !key.startsWith(ownPrefix)));
}

/** The beginning of metadata keys that are Reprise's own. A fork does not inherit them. */
const ownPrefix = 'reprise.';

/** Overlays the source's metadata; a null removes a key. */
function overlay(inherited: JsonObject, given: JsonObject): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const [key, value] of [...Object.entries(inherited), ...Object.entries(given)]) {
    if (value === null) delete result[key];
    else setKey(result, key, value);
  }
  return result;
}

/** Finds a free name of a branch, made from the point, by doubling and halving: a session can have many branches. */
export async function freeName(engine: Engine, place: Place): Promise<string> {
  const base = `${place.record.branch.slice(0, 60).toWellFormed()}-${place.seq}`;
  const nameOf = (count: number): string => (count === 1 ? base : `${base}-${count}`);
  const isTaken = (count: number): Promise<boolean> => hasBranch(engine, place.session, nameOf(count));
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
