import { assert, RepriseError } from '../error.ts';
import { given, type JsonObject, numberAt, stringAt } from '../json.ts';
import { beginning, previous, type Seq, type SeqRange } from '../point.ts';

/** Where a marker stands. */
export interface MarkerBase {
  /** The branch that stores the marker. */
  readonly branch: string;
  readonly seq: Seq;
}

/** A structural event, reduced to the fields that decide a view. */
export type Marker =
  | (MarkerBase & {
      readonly kind: 'forked';
      /** The fork turn, if the branch began at a turn. */
      readonly turn?: number;
    })
  | (MarkerBase & { readonly kind: 'erased'; readonly seqs: readonly Seq[]; readonly parts: readonly string[] })
  | (MarkerBase & { readonly kind: 'replaced'; readonly target: Seq; readonly turn: number; readonly type: string })
  | (MarkerBase & { readonly kind: 'inserted'; readonly after: Seq; readonly turn: number; readonly type: string })
  | (MarkerBase & { readonly kind: 'reverted'; readonly seqs: readonly Seq[]; readonly redo: boolean })
  | (MarkerBase & { readonly kind: 'rewound'; readonly to: Seq; readonly redo: boolean })
  | (MarkerBase & {
      readonly kind: 'rewoundToTurn';
      readonly toTurn: number;
      readonly dropped: readonly SeqRange[];
      /** The group of types that left the view; everything of later turns if left out. */
      readonly only?: string;
    });

/** A marker that edits a view: one that a later revert or redo can name. */
export type EditMarker = Exclude<Marker, { kind: 'forked' | 'erased' }>;

/** Returns whether a marker edits a view. */
export function isEdit(marker: Marker): marker is EditMarker {
  return marker.kind !== 'forked' && marker.kind !== 'erased';
}

/** Returns whether a marker begins an epoch: it takes a whole view back, so that writers who began before must not go on. */
export function beginsEpoch(marker: Marker): boolean {
  return marker.kind === 'rewound' || (marker.kind === 'rewoundToTurn' && marker.only === undefined);
}

interface StructuralEvent {
  readonly branch: string;
  readonly seq: Seq;
  readonly type: string;
  readonly data: JsonObject;
}

/** Reduces a structural event to its marker. The data may hold part references, since no field of a marker is one. */
export function markerOf({ branch, seq, type, data }: StructuralEvent): Marker {
  const base = { branch, seq };
  const carried = data['event'] as JsonObject | undefined;
  const inner = { turn: Number(carried?.['turn'] ?? 0), type: String(carried?.['type'] ?? '') };
  switch (type) {
    case 'branch.forked':
      return { ...base, kind: 'forked', ...given({ turn: numberAt(data, 'turn') }) };
    case 'payload.erased':
      return {
        ...base,
        kind: 'erased',
        seqs: data['seqs'] as unknown as Seq[],
        parts: data['parts'] as unknown as string[],
      };
    case 'event.replaced':
      return { ...base, kind: 'replaced', target: data['seq'] as Seq, ...inner };
    case 'event.inserted':
      return { ...base, kind: 'inserted', after: (data['after'] ?? beginning) as Seq, ...inner };
    case 'event.reverted':
      return { ...base, kind: 'reverted', seqs: data['seqs'] as unknown as Seq[], redo: data['redo'] === true };
    default:
      assert(type === 'branch.rewound', `"${type}" is a structural type`);
      if (typeof data['to'] === 'number')
        return { ...base, kind: 'rewound', to: data['to'] as Seq, redo: data['redo'] === true };
      return {
        ...base,
        kind: 'rewoundToTurn',
        toTurn: data['toTurn'] as number,
        dropped: rangesOf(data['dropped']),
        ...given({ only: stringAt(data, 'only') }),
      };
  }
}

function rangesOf(value: unknown): SeqRange[] {
  return (value as readonly (readonly [Seq, Seq])[]).map(([after, through]) => ({ after, through }));
}

/** Joins rising seqs into ranges. */
export function toRanges(seqs: readonly Seq[]): SeqRange[] {
  const ranges: { after: Seq; through: Seq }[] = [];
  for (const seq of seqs) {
    const last = ranges.at(-1);
    if (last !== undefined && last.through + 1 === seq) last.through = seq;
    else ranges.push({ after: previous(seq), through: seq });
  }
  return ranges;
}

/** Reads the marker of a stored row. If it cannot be read, the store was damaged. */
export function storedMarker({
  branch,
  seq,
  type,
  data,
}: Omit<StructuralEvent, 'data'> & { readonly data: string }): Marker {
  try {
    return markerOf({ branch, seq, type, data: JSON.parse(data) as JsonObject });
  } catch (error) {
    throw new RepriseError('store.damaged', `Cannot read the structural event at "${branch}@${seq}" ("${type}")`, {
      hint: 'Run verify on the branch: the store was damaged or changed.',
      details: { branch, seq },
      cause: error,
    });
  }
}
