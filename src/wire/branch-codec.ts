import type { MessageInitShape } from '@bufbuild/protobuf';
import { RepriseError } from '../core/error.ts';
import { given } from '../core/json.ts';
import type { BranchHead, BranchRecord, BranchSummary } from '../core/store/event-store.ts';
import type { Marker } from '../core/view/marker.ts';
import type {
  BranchHeadSchema,
  BranchRecordSchema,
  BranchSummarySchema,
  MarkerSchema,
  BranchHead as WireBranchHead,
  BranchRecord as WireBranchRecord,
  BranchSummary as WireBranchSummary,
  Marker as WireMarker,
} from './generated/reprise/v1/row_pb.ts';
import { pointFromWireOr, pointToWireOr, rangeFromWire, rangeToWire } from './row-codec.ts';
import { digestFrom, fromWhole, fromWholeOr, seqFrom, seqsFrom, toWhole, toWholeOr } from './whole-number.ts';

type MarkerKind = NonNullable<MessageInitShape<typeof MarkerSchema>['kind']>;

/** Writes a marker. */
function markerToWire(marker: Marker): MessageInitShape<typeof MarkerSchema> {
  return { branch: marker.branch, seq: toWhole(marker.seq), kind: markerKind(marker) };
}

function markerKind(marker: Marker): MarkerKind {
  switch (marker.kind) {
    case 'forked':
      return { case: 'forked', value: given({ turn: toWholeOr(marker.turn) }) };
    case 'erased':
      return { case: 'erased', value: { seqs: marker.seqs.map(toWhole), parts: [...marker.parts] } };
    case 'replaced':
      return { case: 'replaced', value: carried(marker.target, marker) };
    case 'inserted':
      return { case: 'inserted', value: carried(marker.after, marker) };
    case 'reverted':
      return { case: 'reverted', value: { seqs: marker.seqs.map(toWhole), redo: marker.redo } };
    case 'rewound':
      return { case: 'rewound', value: { to: toWhole(marker.to), redo: marker.redo } };
    case 'rewoundToTurn':
      return {
        case: 'rewoundToTurn',
        value: {
          toTurn: toWhole(marker.toTurn),
          dropped: marker.dropped.map(rangeToWire),
          ...given({ only: marker.only }),
        },
      };
  }
}

function carried(at: number, { turn, type }: { readonly turn: number; readonly type: string }) {
  return { at: toWhole(at), turn: toWhole(turn), type };
}

/** Reads a marker. */
function markerFromWire({ branch, seq, kind }: WireMarker): Marker {
  const base = { branch, seq: seqFrom(seq) };
  switch (kind.case) {
    case 'forked':
      return { ...base, kind: 'forked', ...given({ turn: fromWholeOr(kind.value.turn) }) };
    case 'erased':
      return { ...base, kind: 'erased', seqs: seqsFrom(kind.value.seqs), parts: kind.value.parts };
    case 'replaced':
      return { ...base, kind: 'replaced', target: seqFrom(kind.value.at), ...innerOf(kind.value) };
    case 'inserted':
      return { ...base, kind: 'inserted', after: seqFrom(kind.value.at), ...innerOf(kind.value) };
    case 'reverted':
      return { ...base, kind: 'reverted', seqs: seqsFrom(kind.value.seqs), redo: kind.value.redo };
    case 'rewound':
      return { ...base, kind: 'rewound', to: seqFrom(kind.value.to), redo: kind.value.redo };
    case 'rewoundToTurn':
      return {
        ...base,
        kind: 'rewoundToTurn',
        toTurn: fromWhole(kind.value.toTurn),
        dropped: kind.value.dropped.map(rangeFromWire),
        ...given({ only: kind.value.only }),
      };
    case undefined:
      // To leave a marker out would show a view that never was.
      throw new RepriseError('store.newer', `Cannot read branch "${branch}": its marker at ${seq} has a newer kind`, {
        hint: 'Use a release that is as new as the server.',
      });
  }
}

function innerOf({ turn, type }: { readonly turn: bigint; readonly type: string }) {
  return { turn: fromWhole(turn), type };
}

/** Writes where a branch ends. */
export function headToWire({
  branch,
  parent,
  head,
  digest,
  epoch,
}: BranchHead): MessageInitShape<typeof BranchHeadSchema> {
  return { branch, head: toWhole(head), digest, epoch: toWhole(epoch), ...given({ parent: pointToWireOr(parent) }) };
}

/** Reads where a branch ends. */
export function headFromWire({ branch, parent, head, digest, epoch }: WireBranchHead): BranchHead {
  return {
    branch,
    head: seqFrom(head),
    digest: digestFrom(digest),
    epoch: seqFrom(epoch),
    ...given({ parent: pointFromWireOr(parent) }),
  };
}

/** Writes a branch. */
export function branchToWire(record: BranchRecord): MessageInitShape<typeof BranchRecordSchema> {
  const { root, turn, createdAt, updatedAt, markers } = record;
  return {
    head: headToWire(record),
    root,
    turn: toWhole(turn),
    createdAt,
    updatedAt,
    markers: markers.map(markerToWire),
  };
}

/** Reads a branch. */
export function branchFromWire(record: WireBranchRecord): BranchRecord | undefined {
  const { head, root, turn, createdAt, updatedAt, markers } = record;
  if (head === undefined) return undefined;
  return {
    ...headFromWire(head),
    root,
    turn: fromWhole(turn),
    createdAt,
    updatedAt,
    markers: markers.map(markerFromWire),
  };
}

/** Writes a branch of a listing. */
export function summaryToWire(summary: BranchSummary): MessageInitShape<typeof BranchSummarySchema> {
  const { branch, parent, head, digest, createdAt, updatedAt, bytes } = summary;
  return {
    branch,
    head: toWhole(head),
    digest,
    createdAt,
    updatedAt,
    bytes: toWhole(bytes),
    ...given({ parent: pointToWireOr(parent) }),
  };
}

/** Reads a branch of a listing. */
export function summaryFromWire(summary: WireBranchSummary): BranchSummary {
  const { branch, parent, head, digest, createdAt, updatedAt, bytes } = summary;
  return {
    branch,
    head: seqFrom(head),
    digest: digestFrom(digest),
    createdAt,
    updatedAt,
    bytes: fromWhole(bytes),
    ...given({ parent: pointFromWireOr(parent) }),
  };
}
