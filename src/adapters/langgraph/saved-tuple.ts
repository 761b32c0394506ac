import {
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
  type SerializerProtocol,
  TASKS,
} from '@langchain/langgraph-checkpoint';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { arrayAt, isObject, type JsonObject, type JsonValue, objectAt } from '../../core/json.ts';
import type { Saved, SaverIndex } from './saver-index.ts';
import { typedBytes } from './typed-value.ts';

/** The checkpoint that has the value of a channel, and its version. */
interface HeldValue extends JsonObject {
  readonly from: string;
  readonly version: number | string;
}

/** The values that a checkpoint refers to. */
export interface Kept {
  readonly values: ReadonlyMap<string, HeldValue>;
}

/** Reads what a checkpoint refers to, without the values themselves. */
export async function readKept(index: SaverIndex, saved: Saved): Promise<Kept> {
  return { values: valuesOf((await readEvent(index, saved, saved.seq)).data) };
}

/** Version 4 of the format keeps pending sends in a channel; older ones kept them as writes on the parent. */
const sendsVersion = 4;

/** Reads a checkpoint from the log. */
export async function readTuple(
  index: SaverIndex,
  saved: Saved,
  serde: SerializerProtocol,
  nextVersion: (current: undefined) => number,
): Promise<Omit<CheckpointTuple, 'config' | 'parentConfig'>> {
  const load = async (held: JsonValue | undefined): Promise<unknown> => serde.loadsTyped(...typedBytes(held));
  const own = await readAppend(index, saved);
  const { data } = own.saved;
  const [state, metadata, values, pendingWrites] = await Promise.all([
    load(data['state']),
    load(data['metadata']),
    readValues(index, saved, own, load),
    readWrites(index, saved.namespace, saved.id, load),
  ]);
  const checkpoint = { ...(state as Checkpoint), channel_values: values };
  if (checkpoint.v < sendsVersion && saved.parent !== undefined) {
    const writes = await readWrites(index, saved.namespace, saved.parent, load);
    values[TASKS] = writes.filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : nextVersion(undefined);
  }
  return { checkpoint, metadata: metadata as CheckpointMetadata, pendingWrites };
}

type Load = (held: JsonValue | undefined) => Promise<unknown>;

/** The events of one checkpoint: its own values by channel, and the event that refers to them. */
interface Append {
  readonly saved: Event;
  readonly values: ReadonlyMap<string, JsonObject>;
}

async function readValues(index: SaverIndex, saved: Saved, own: Append, load: Load): Promise<Record<string, unknown>> {
  const appends = new Map<string, Promise<Append>>([[saved.id, Promise.resolve(own)]]);
  const holderOf = (id: string): Promise<Append> => {
    const known = appends.get(id);
    if (known !== undefined) return known;
    const holder = index.find(saved.namespace, id);
    const read = holder === undefined ? Promise.reject(missing(saved, id)) : readAppend(index, holder);
    appends.set(id, read);
    return read;
  };
  const entries = await Promise.all(
    [...valuesOf(own.saved.data)].map(
      async ([channel, { from }]) => [channel, await load((await holderOf(from)).values.get(channel))] as const,
    ),
  );
  return Object.fromEntries(entries);
}

/** Reads the writes on a checkpoint: the first under an index stays, but special ones are replaced. */
async function readWrites(
  index: SaverIndex,
  namespace: string,
  id: string,
  load: Load,
): Promise<CheckpointPendingWrite[]> {
  const held = new Map<string, { readonly task: string; readonly write: JsonObject }>();
  for (const wrote of index.writes(namespace, id)) {
    const { data } = await readEvent(index, wrote, wrote.seq);
    for (const write of arrayAt(data, 'writes') ?? []) {
      if (!isObject(write)) continue;
      const key = JSON.stringify([wrote.task, write['index'] ?? 0]);
      if (Number(write['index']) < 0 || !held.has(key)) held.set(key, { task: wrote.task, write });
    }
  }
  return Promise.all(
    [...held.values()].map(
      async ({ task, write }): Promise<CheckpointPendingWrite> => [task, String(write['channel']), await load(write)],
    ),
  );
}

async function readAppend(index: SaverIndex, saved: Saved): Promise<Append> {
  const found = await readStanding(index, saved);
  const isAll = found.length === saved.changed.length + 1;
  const events = index.isEdited && !isAll ? await readReplaced(index, saved) : found;
  const values = new Map<string, JsonObject>();
  for (const { type, data } of events) if (type === 'channel.saved') values.set(String(data['channel']), data);
  const last = events.findLast(({ type }) => type === 'graph.saved');
  if (last === undefined) throw missing(saved, saved.id);
  return { saved: last, values };
}

/** Reads the events of a checkpoint where they were appended. */
function readStanding(index: SaverIndex, { branch, seq, changed }: Saved): Promise<Event[]> {
  const history = index.isEdited ? 'view' : 'raw';
  const range = { after: seq - changed.length - 1, through: seq };
  return Array.fromAsync(index.session.branch(branch).replay({ history, ...range }));
}

/** Reads the same events with their replacements, which have their own seqs. */
async function readReplaced(index: SaverIndex, { branch, seq, changed }: Saved): Promise<Event[]> {
  const types = ['channel.saved', 'graph.saved'];
  const found: Event[] = [];
  for await (const event of index.session.branch(branch).replay({ filter: { types } })) {
    const place = event.replaces ?? event.seq;
    if (event.seq === seq || (place >= seq - changed.length && place <= seq)) found.push(event);
  }
  return found;
}

async function readEvent(index: SaverIndex, { branch }: { readonly branch: string }, seq: number): Promise<Event> {
  const history = index.isEdited ? 'view' : 'raw';
  for await (const event of index.session.branch(branch).replay({ history, after: seq - 1, through: seq }))
    return event;
  throw new RepriseError('event.not-found', `Cannot load what a graph saved: there is no event ${seq} on "${branch}"`);
}

function valuesOf(data: JsonObject): Map<string, HeldValue> {
  const values = Object.entries(objectAt(data, 'values') ?? {});
  return new Map(values.flatMap(([channel, held]) => (isHeld(held) ? [[channel, held]] : [])));
}

const isHeld = (value: JsonValue): value is HeldValue => isObject(value) && typeof value['from'] === 'string';

function missing(saved: Saved, id: string): RepriseError {
  return new RepriseError(
    'event.not-found',
    `Cannot load checkpoint "${saved.id}": "${id}", which holds a value of it, is not in the history`,
    { hint: 'Continue from an earlier checkpoint: this one was erased or reverted.' },
  );
}
