/**
 * Every row comes out of the wire as it went in. The samples have every field, also the optional ones: a row that gets a
 * new field does not compile here until a sample has it, and fails until the schema carries it.
 */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import type { EventFilter } from '../../src/core/event/filter.ts';
import type { PartInput } from '../../src/core/parts/parts.ts';
import { seq } from '../../src/core/point.ts';
import type {
  BranchRecord,
  BranchSummary,
  PageRequest,
  Receipt,
  SessionRecord,
  Snapshot,
  StoredEvent,
} from '../../src/core/store/event-store.ts';
import type { SessionSize } from '../../src/core/store/session-size.ts';
import type { StoreHealth } from '../../src/core/store/store-health.ts';
import type { Marker } from '../../src/core/view/marker.ts';
import type { Segment } from '../../src/core/view/view.ts';
import { noDigest } from '../../src/testing/contract/contract-case.ts';
import { branchFromWire, branchToWire, summaryFromWire, summaryToWire } from '../../src/wire/branch-codec.ts';
import {
  BranchRecordSchema,
  BranchSummarySchema,
  PartSchema,
  ReceiptSchema,
  SegmentSchema,
  SessionRecordSchema,
  SnapshotSchema,
  StoredEventSchema,
} from '../../src/wire/generated/reprise/v1/row_pb.ts';
import {
  GetHealthResponseSchema,
  ReadRequestSchema,
  SessionSizeSchema,
} from '../../src/wire/generated/reprise/v1/store_pb.ts';
import {
  healthFromWire,
  healthToWire,
  receiptFromWire,
  receiptToWire,
  sizeFromWire,
  sizeToWire,
  snapshotFromWire,
  snapshotToWire,
} from '../../src/wire/kept-codec.ts';
import { pageFromWire, readToWire } from '../../src/wire/page-codec.ts';
import {
  eventFromWire,
  eventToWire,
  partFromWire,
  partToWire,
  segmentFromWire,
  segmentToWire,
} from '../../src/wire/row-codec.ts';
import { sessionFromWire, sessionToWire } from '../../src/wire/session-codec.ts';

/** Sends a message over the wire. */
function sent<Desc extends DescMessage>(schema: Desc, message: MessageInitShape<Desc>): MessageShape<Desc> {
  return fromBinary(schema, toBinary(schema, create(schema, message)));
}

type Whole<Row> = { readonly [Field in keyof Row]-?: NonNullable<Row[Field]> };
type WholeMarker = { readonly [Kind in Marker['kind']]: Whole<Extract<Marker, { kind: Kind }>> };

const at = { branch: 'main', seq: seq(7) };
const markers: WholeMarker = {
  forked: { ...at, kind: 'forked', turn: 3 },
  erased: { ...at, kind: 'erased', seqs: [seq(1)], parts: ['p'] },
  replaced: { ...at, kind: 'replaced', target: seq(2), turn: 1, type: 'note.added' },
  inserted: { ...at, kind: 'inserted', after: seq(2), turn: 1, type: 'note.added' },
  reverted: { ...at, kind: 'reverted', seqs: [seq(1), seq(2)], redo: true },
  rewound: { ...at, kind: 'rewound', to: seq(4), redo: true },
  rewoundToTurn: {
    ...at,
    kind: 'rewoundToTurn',
    toTurn: 2,
    dropped: [{ after: seq(1), through: seq(3) }],
    only: 'beliefs',
  },
};

const time = '2026-11-15T10:00:00.000Z';
const head = { branch: 'b', parent: { branch: 'main', seq: seq(3) }, head: seq(9), digest: noDigest };

test('a branch with every kind of marker', () => {
  const record: Whole<BranchRecord> = {
    ...head,
    epoch: seq(4),
    root: 'main',
    turn: 5,
    createdAt: time,
    updatedAt: time,
    markers: Object.values(markers),
  };
  expect(branchFromWire(sent(BranchRecordSchema, branchToWire(record)))).toEqual(record);
});

test('a branch in a listing', () => {
  const summary: Whole<BranchSummary> = { ...head, createdAt: time, updatedAt: time, bytes: 99 };
  expect(summaryFromWire(sent(BranchSummarySchema, summaryToWire(summary)))).toEqual(summary);
});

test('an event with its proof, and an erased one', () => {
  const event: Whole<Omit<StoredEvent, 'dataDigest'>> & Pick<StoredEvent, 'dataDigest'> = {
    ...at,
    id: 'e1',
    time,
    type: 'note.added',
    version: 2,
    agent: 'a',
    run: 'r',
    turn: 3,
    cause: 'e0',
    causeSeq: seq(1),
    digest: noDigest,
    data: '{}',
    salt: 's',
    dataDigest: null,
    erased: false,
  };
  const back = (row: StoredEvent): StoredEvent =>
    eventFromWire(sent(StoredEventSchema, eventToWire(row, row.branch)), 'proof');
  expect(back(event)).toEqual(event);
  const erased = { ...event, data: null, salt: null, dataDigest: noDigest, erased: true };
  expect(back(erased)).toEqual(erased);
});

test('a part, a segment and a session', () => {
  const part: Whole<PartInput> = {
    digest: noDigest,
    kind: 'delta',
    salt: 's',
    text: '{}',
    refs: [noDigest],
    damaged: true,
  };
  expect(partFromWire(sent(PartSchema, partToWire(part)))).toEqual(part);
  const segment: Whole<Segment> = {
    branch: 'main',
    after: seq(1),
    through: seq(9),
    except: [{ after: seq(2), through: seq(3) }],
    carried: true,
  };
  expect(segmentFromWire(sent(SegmentSchema, segmentToWire(segment)))).toEqual(segment);
  const session: Whole<SessionRecord> = {
    namespace: 'n',
    session: 's',
    seed: 'x',
    genesis: noDigest,
    root: 'main',
    createdAt: time,
    updatedAt: time,
    erasures: 2,
  };
  expect(sessionFromWire(sent(SessionRecordSchema, sessionToWire(session)))).toEqual(session);
});

test('a snapshot, a receipt, a size and a health', () => {
  const snapshot: Whole<Snapshot> = {
    projection: 'p',
    version: '1',
    upcasts: 2,
    erasures: 3,
    branch: 'main',
    seq: seq(4),
    digest: noDigest,
    value: 'v',
  };
  expect(snapshotFromWire(sent(SnapshotSchema, snapshotToWire(snapshot)))).toEqual(snapshot);
  const receipt: Whole<Receipt> = { digest: noDigest, kind: 'k', createdAt: time, body: { a: [1] } };
  expect(receiptFromWire(sent(ReceiptSchema, receiptToWire(receipt)))).toEqual(receipt);
  const size: Whole<SessionSize> = {
    branches: 1,
    events: 2,
    eventBytes: 3,
    partBytes: 4,
    snapshots: 5,
    snapshotBytes: 6,
  };
  expect(sizeFromWire(sent(SessionSizeSchema, sizeToWire(size)))).toEqual(size);
  const health: Whole<StoreHealth> = {
    kind: 'sqlite',
    location: 'https://host',
    schema: '7',
    bytes: 8,
    durability: 'disk',
    facts: [{ name: 'a', text: 'b' }],
    tables: [{ name: 't', bytes: 1, indexBytes: 2 }],
    namespaces: [{ name: 'n', sessions: 1, bytes: 2 }],
    advice: [{ message: 'm', todo: 't' }],
    problems: [{ message: 'p' }],
  };
  expect(healthFromWire(sent(GetHealthResponseSchema, healthToWire(health)), 'https://host')).toEqual(health);
});

test('a page request, with the conditions that a store judges', () => {
  const filter = { agent: 'a', run: 'r', turn: 1, turnAfter: 2, since: time, until: time, after: 3, through: 4 };
  const page: Whole<Omit<PageRequest, 'filter'>> & { readonly filter: EventFilter } = {
    limit: 5,
    bytesMax: 6,
    select: 'proof',
    direction: 'backward',
    cursor: { segment: 1, seq: seq(2) },
    filter: { types: ['note.added'], ...filter },
    withParts: true,
  };
  const ref = { namespace: 'n', session: 's' };
  expect(pageFromWire(sent(ReadRequestSchema, readToWire(ref, [], page, 3))).page).toEqual(page);
});
