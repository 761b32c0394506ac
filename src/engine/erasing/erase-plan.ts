import { canonicalJson } from '../../core/canonical-json.ts';
import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { parseKey } from '../../core/event/keys.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { bodyText, refsIn } from '../../core/parts/decode.ts';
import { dataDigestOf } from '../../core/parts/digest.ts';
import { indexKeysOf } from '../../core/parts/encode.ts';
import { asRef, type ListNode, type PartInput } from '../../core/parts/parts.ts';
import type { Digest, Seq } from '../../core/point.ts';
import { keepsUnitOf } from '../../core/recording/unit-id.ts';
import { carriesEvent } from '../../core/store/event-keys.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import { ownSegment } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { dataOf, decoderFor, pages, readParts } from '../history/stored-events.ts';
import { bodyHoldsContent, type Content, holdsContent, valueHoldsContent } from './erase-content.ts';
import { byUnit, FilledUnits } from './filled-units.ts';

/** The events, markers and parts that an erasure touches in one session. */
export interface ErasePlan {
  readonly events: readonly {
    readonly branch: string;
    readonly seq: Seq;
    readonly dataDigest: Digest;
    readonly keys: readonly string[];
  }[];
  /** Markers that carried erased content: they stay, under the keys that are left. */
  readonly carriers: readonly { readonly branch: string; readonly seq: Seq; readonly keys: readonly string[] }[];
  /** Parts to delete. */
  readonly gone: readonly Digest[];
  /** Parts with a new text under their old digest: lists with a hole (damaged), bodies whose base goes (whole). */
  readonly rewrites: readonly PartInput[];
  /** The branches that store an affected event. */
  readonly branches: readonly string[];
}

/** Finds all events and parts of a session that contain the content, and the events that are erased in any case. */
export async function planErase(
  engine: Engine,
  session: string,
  content: Content,
  isTarget: (row: StoredEvent) => boolean,
): Promise<ErasePlan> {
  const parts = await allParts(engine, session);
  const gone = new Set<Digest>();
  for (const part of parts.values()) if (isGone(content, part, parts)) gone.add(part.digest);
  // The event that a marker carries goes together with a value it refers to: the digest of a value can be guessed.
  for (const part of parts.values())
    if (part.kind === 'sealed' && part.refs.some((digest) => gone.has(digest) && isValue(parts, digest)))
      gone.add(part.digest);
  const rewrites = [...parts.values()].flatMap((part) =>
    gone.has(part.digest) ? [] : rewriteOf(engine, content, part, parts, gone),
  );
  const touched = new Set<Digest>([...gone, ...rewrites.filter((part) => part.damaged).map((part) => part.digest)]);
  const events: ErasePlan['events'][number][] = [];
  const carriers: ErasePlan['carriers'][number][] = [];
  const branches = new Set<string>();
  const filled = new FilledUnits(content, parts);
  for await (const unit of byUnit(allRows(engine, session))) {
    const isFilled = filled.hold(unit);
    for (const row of unit) {
      if (row.data === null) continue;
      const refs = refsIn(row.data);
      if (
        !isStructural(row.type) &&
        (isTarget(row) ||
          (isFilled && row === unit[0]) ||
          refs.some((digest) => gone.has(digest) && isValue(parts, digest)) ||
          holdsContent(content, row.data))
      ) {
        events.push({
          branch: row.branch,
          seq: row.seq,
          dataDigest: dataDigestOf(engine.platform.sha256, row.salt ?? '', row.data),
          keys: await keysLeft(engine, session, row, content),
        });
        branches.add(row.branch);
      } else if (reaches(refs, parts, touched)) branches.add(row.branch);
      if (carriesEvent(row.type) && refs.some((digest) => gone.has(digest)))
        carriers.push({ branch: row.branch, seq: row.seq, keys: await keysLeft(engine, session, row, content) });
    }
  }
  return { events, carriers, gone: [...gone], rewrites, branches: [...branches] };
}

/** Tells for each event whether an erasure of one event takes it along: that event, and the one that keeps its unit's text. */
export function goesWith(target: Event | undefined): (row: StoredEvent) => boolean {
  return ({ branch, seq, id }) =>
    target !== undefined && branch === target.branch && (seq === target.seq || keepsUnitOf(id, target.id));
}

const isValue = (parts: ReadonlyMap<Digest, PartInput>, digest: Digest): boolean => parts.get(digest)?.kind === 'value';

/** Returns true if a part goes as a whole. A list gets a hole instead. */
function isGone(content: Content, part: PartInput, parts: ReadonlyMap<Digest, PartInput>): boolean {
  switch (part.kind) {
    case 'list':
      return false;
    case 'value':
    case 'sealed':
      return holdsContent(content, part.text);
    case 'body':
      return bodyHoldsContent(content, part.text);
    case 'delta':
      return bodyHoldsContent(content, bodyText(part, (digest) => parts.get(digest)) ?? '');
  }
}

function rewriteOf(
  { platform }: Engine,
  content: Content,
  part: PartInput,
  parts: ReadonlyMap<Digest, PartInput>,
  gone: ReadonlySet<Digest>,
): PartInput[] {
  if (part.kind === 'delta' && part.refs.some((digest) => gone.has(digest))) {
    const text = bodyText(part, (digest) => parts.get(digest)) ?? '';
    return [{ digest: part.digest, kind: 'body', salt: part.salt, text, refs: [] }];
  }
  if (part.kind !== 'list') return [];
  const node = JSON.parse(part.text) as ListNode;
  const isHeld = (item: JsonValue): boolean => {
    const ref = asRef(item);
    return ref === undefined ? valueHoldsContent(content, item) : gone.has(ref.digest);
  };
  if (!node.items.some(isHeld)) return [];
  const items = node.items.map((item): JsonValue => (isHeld(item) ? { $erased: true } : item));
  const text = canonicalJson({ previous: node.previous, items });
  // Without the old salt, no one can use the old digest to guess the content of the hole. The new salt is for the
  // digest of the rest, which the marker keeps; the next hole replaces it.
  return [
    {
      digest: part.digest,
      kind: 'list',
      salt: platform.newSalt(),
      text,
      refs: part.refs.filter((digest) => !gone.has(digest)),
      damaged: true,
    },
  ];
}

function reaches(
  refs: readonly Digest[],
  parts: ReadonlyMap<Digest, PartInput>,
  touched: ReadonlySet<Digest>,
): boolean {
  const open = [...refs];
  const seen = new Set<Digest>();
  for (let digest = open.pop(); digest !== undefined; digest = open.pop()) {
    if (touched.has(digest)) return true;
    if (seen.has(digest)) continue;
    seen.add(digest);
    open.push(...(parts.get(digest)?.refs ?? []));
  }
  return false;
}

/** Returns the keys under which readers still find an erased event, so that they see "erased" and not an older value. */
export async function keysLeft(engine: Engine, session: string, row: StoredEvent, content: Content): Promise<string[]> {
  const data = dataOf(row, await decoderFor(engine, session, [row]));
  const keys = indexKeysOf({ id: row.id, type: row.type, agent: row.agent ?? undefined, data });
  return keys.filter((key) => !valueHoldsContent(content, [parseKey(key).name]));
}

async function allParts(engine: Engine, session: string): Promise<Map<Digest, PartInput>> {
  const ref = sessionRef(engine, session);
  const parts = new Map<Digest, PartInput>();
  let after: Digest | undefined;
  for (;;) {
    const digests = await engine.store.heldParts(ref, {
      limit: limits.partsAskedMax,
      ...given({ after }),
    });
    if (digests.length === 0) return parts;
    for (const [digest, part] of await readParts(engine, session, digests, { depth: 'asked' })) parts.set(digest, part);
    after = digests.at(-1);
  }
}

async function* allRows(engine: Engine, session: string): AsyncGenerator<StoredEvent> {
  for (const branch of await engine.store.branches(sessionRef(engine, session)))
    for await (const rows of pages(engine, session, [ownSegment(branch)], { select: 'proof' })) yield* rows;
}
