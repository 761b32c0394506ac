import { canonicalJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import { checkData } from '../../core/event/check-data.ts';
import { checkDraft } from '../../core/event/event.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { checkBytes, checkLimit } from '../../core/limits.ts';
import { bodyText, DataDecoder, refsIn } from '../../core/parts/decode.ts';
import { dataDigestOf, type Sha256 } from '../../core/parts/digest.ts';
import { indexKeysOf } from '../../core/parts/encode.ts';
import { partDamaged } from '../../core/parts/part-check.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import type { Digest } from '../../core/point.ts';
import type { EventInput, EventStore, SessionRef } from '../../core/store/event-store.ts';
import { isoTime } from '../../core/time.ts';

/** The parts that came with a change, and those that the session has. */
export interface KnownParts {
  readonly given: ReadonlyMap<Digest, PartInput>;
  readonly held: ReadonlyMap<Digest, PartInput>;
}

/** Returns the parts of a change, along with the held ones that its events and deltas cannot be judged without. */
export async function partsFor(
  store: EventStore,
  ref: SessionRef,
  skeletons: readonly string[],
  parts: readonly PartInput[],
): Promise<KnownParts> {
  const given = new Map(parts.map((part) => [part.digest, part]));
  const values = skeletons.flatMap(valueRefs).filter((digest) => !given.has(digest));
  const bases = parts.flatMap((part) => (part.kind === 'delta' ? part.refs : [])).filter((base) => !given.has(base));
  const held = new Map<Digest, PartInput>();
  if (values.length > 0) add(held, (await store.parts(ref, [...new Set(values)], { depth: 'asked' })).parts);
  // The base of a delta may be a delta itself, so everything below it is needed.
  for (let asked: readonly Digest[] = [...new Set(bases)]; asked.length > 0; ) {
    const page = await store.parts(ref, asked);
    add(held, page.parts);
    asked = page.rest;
  }
  return { given, held };
}

function add(all: Map<Digest, PartInput>, some: ReadonlyMap<Digest, PartInput>): void {
  for (const [digest, part] of some) all.set(digest, part);
}

// Keys are made of plain values, never of lists and bodies, which may be long.
const valuePattern = /"\$(?:part|sealed)":"([0-9a-f]{64})"/g;

function valueRefs(skeleton: string): Digest[] {
  return refsIn(skeleton).length === 0
    ? []
    : Array.from(skeleton.matchAll(valuePattern), ([, digest]) => digest as Digest);
}

/** An event as a caller sends it: with a skeleton, and keys that are not believed. */
type SentEvent = Pick<EventInput, 'id' | 'time' | 'type' | 'version' | 'agent' | 'run' | 'turn' | 'cause' | 'data'>;

/**
 * Returns the keys of an event, made from its data as `reindex` makes them. Refuses an event that the engine of an
 * honest client would not have sent: ids that forge a key, a form that readers cannot fold.
 */
export function honestKeys(event: SentEvent, { given: sent, held }: KnownParts): readonly string[] {
  const { id, type, version, time, agent, run, turn, cause } = event;
  const shape = checkSkeleton(event);
  let isWhole = true;
  const isErased = (): boolean => {
    isWhole = false;
    return true;
  };
  const decoder = new DataDecoder({ get: (digest) => sent.get(digest) ?? held.get(digest), isErased });
  const data = refsIn(shape).length === 0 && !shape.includes('"$') ? JSON.parse(shape) : decoder.decode(shape);
  checkDraft({ id, type, version, data, ...given({ agent, run, turn, cause }) });
  if (isoTime(time) !== time) refuse(type, 'its time is not in the form 2026-11-15T10:00:00.000Z');
  // A list that continues one in the store is a hole here, and was checked when it was stored.
  if (isWhole) checkData({ type, version, data });
  const keys = indexKeysOf({ id, type, agent, data });
  checkLimit('eventKeysMax', keys.length, `index an event of type "${type}"`);
  for (const key of keys) checkBytes('keyBytesMax', [key], 'index an event: a key is too long');
  return keys;
}

/** Returns a skeleton that is canonical JSON. Any other text could hide a reference, or change when it is read. */
function checkSkeleton({ type, data }: SentEvent): string {
  let value: JsonValue;
  try {
    value = JSON.parse(data) as JsonValue;
  } catch {
    return refuse(type, 'its data is not JSON');
  }
  if (canonicalJson(value) !== data) refuse(type, 'its data is not canonical JSON');
  return data;
}

/** Puts every delta together and compares it with its digest, which the store alone cannot do. */
export function checkDeltas({ given: sent, held }: KnownParts, sha256: Sha256): void {
  const get = (digest: Digest): PartInput | undefined => sent.get(digest) ?? held.get(digest);
  for (const part of sent.values()) {
    if (part.kind !== 'delta') continue;
    const body = bodyText(part, get);
    if (body === undefined || dataDigestOf(sha256, part.salt ?? '', body) !== part.digest)
      throw partDamaged(part.digest);
  }
}

function refuse(type: string, why: string): never {
  throw new RepriseError('event.invalid', `Cannot append an event of type ${JSON.stringify(type)}: ${why}`, {
    hint: 'Write through the library, which encodes events.',
  });
}
