import type { MessageInitShape } from '@bufbuild/protobuf';
import { RepriseError } from '../core/error.ts';
import { given } from '../core/json.ts';
import type { PartInput } from '../core/parts/parts.ts';
import type { Point, SeqRange } from '../core/point.ts';
import type { EventSelect, StoredEvent } from '../core/store/event-store.ts';
import type { Segment } from '../core/view/view.ts';
import {
  type Part,
  PartKind,
  type PartSchema,
  type PointSchema,
  type SegmentSchema,
  type SeqRangeSchema,
  type StoredEventSchema,
  type Point as WirePoint,
  type Segment as WireSegment,
  type SeqRange as WireSeqRange,
  type StoredEvent as WireStoredEvent,
} from './generated/reprise/v1/row_pb.ts';
import { digestFrom, digestsFrom, fromWhole, seqFrom, seqFromOr, toWhole, toWholeOr } from './whole-number.ts';

/** Writes a point. */
export function pointToWire({ branch, seq }: Point): MessageInitShape<typeof PointSchema> {
  return { branch, seq: toWhole(seq) };
}

/** Reads a point. */
export function pointFromWire({ branch, seq }: WirePoint): Point {
  return { branch, seq: seqFrom(seq) };
}

/** Reads a point that may be absent. */
export function pointFromWireOr(point: WirePoint | undefined): Point | undefined {
  return point === undefined ? undefined : pointFromWire(point);
}

/** Writes a point that may be absent. */
export function pointToWireOr(point: Point | undefined): MessageInitShape<typeof PointSchema> | undefined {
  return point === undefined ? undefined : pointToWire(point);
}

/** Writes a range of seqs. */
export function rangeToWire({ after, through }: SeqRange): MessageInitShape<typeof SeqRangeSchema> {
  return { after: toWhole(after), through: toWhole(through) };
}

/** Reads a range of seqs. */
export function rangeFromWire({ after, through }: WireSeqRange): SeqRange {
  return { after: seqFrom(after), through: seqFrom(through) };
}

/** Writes a stretch of a view. */
export function segmentToWire({
  branch,
  after,
  through,
  except,
  carried,
}: Segment): MessageInitShape<typeof SegmentSchema> {
  return { branch, after: toWhole(after), through: toWhole(through), except: except.map(rangeToWire), carried };
}

/** Reads a stretch of a view. */
export function segmentFromWire({ branch, after, through, except, carried }: WireSegment): Segment {
  return { branch, after: seqFrom(after), through: seqFrom(through), except: except.map(rangeFromWire), carried };
}

/** Writes an event. Fields that the store left out stay out. */
export function eventToWire(
  event: Omit<StoredEvent, 'branch'>,
  branch: string,
): MessageInitShape<typeof StoredEventSchema> {
  const { seq, id, time, type, version, agent, run, turn, cause, causeSeq, digest, data, salt, dataDigest, erased } =
    event;
  return {
    branch,
    seq: toWhole(seq),
    id,
    time,
    type,
    version: toWhole(version),
    turn: toWhole(turn),
    digest,
    erased,
    ...given({
      agent: agent ?? undefined,
      run: run ?? undefined,
      cause: cause ?? undefined,
      causeSeq: toWholeOr(causeSeq),
      data: data ?? undefined,
      salt: salt ?? undefined,
      dataDigest: dataDigest ?? undefined,
    }),
  };
}

/** Reads an event that was selected in a certain way: only a proof says that there is no salt. */
export function eventFromWire(event: WireStoredEvent, select: EventSelect): StoredEvent {
  const { branch, id, time, type, digest, erased } = event;
  return {
    branch,
    seq: seqFrom(event.seq),
    id,
    time,
    type,
    version: fromWhole(event.version),
    agent: event.agent ?? null,
    run: event.run ?? null,
    turn: fromWhole(event.turn),
    cause: event.cause ?? null,
    causeSeq: seqFromOr(event.causeSeq) ?? null,
    digest: digestFrom(digest),
    data: event.data ?? null,
    erased,
    ...(select === 'proof' ? proofOf(event) : {}),
  };
}

/** Reads the fields that only a proof has. */
export function proofOf({ salt, dataDigest }: WireStoredEvent): Required<Pick<StoredEvent, 'salt' | 'dataDigest'>> {
  return { salt: salt ?? null, dataDigest: dataDigest === undefined ? null : digestFrom(dataDigest) };
}

const kinds = {
  value: PartKind.VALUE,
  list: PartKind.LIST,
  body: PartKind.BODY,
  delta: PartKind.DELTA,
  sealed: PartKind.SEALED,
} as const satisfies Record<PartInput['kind'], PartKind>;

const kindNames: ReadonlyMap<PartKind, PartInput['kind']> = new Map(
  Object.entries(kinds).map(([name, kind]) => [kind, name as PartInput['kind']]),
);

function kindFromWire(kind: PartKind): PartInput['kind'] {
  const name = kindNames.get(kind);
  if (name !== undefined) return name;
  throw new RepriseError('option.invalid', `Cannot read a part: this release knows no kind ${kind}`, {
    hint: 'Use the same release on both sides.',
  });
}

/** Writes a part. */
export function partToWire({
  digest,
  kind,
  salt,
  text,
  refs,
  damaged,
}: PartInput): MessageInitShape<typeof PartSchema> {
  return {
    digest,
    kind: kinds[kind],
    text,
    refs: [...refs],
    damaged: damaged === true,
    ...given({ salt: salt ?? undefined }),
  };
}

/** Reads a part. */
export function partFromWire({ digest, kind, salt, text, refs, damaged }: Part): PartInput {
  return {
    digest: digestFrom(digest),
    kind: kindFromWire(kind),
    salt: salt ?? null,
    text,
    refs: digestsFrom(refs),
    ...(damaged ? { damaged } : {}),
  };
}
