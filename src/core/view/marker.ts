import { assert, RepriseError } from '../error.ts';
import { arrayAt, given, isArray, type JsonObject, type JsonValue, numberAt, stringAt } from '../json.ts';
import { beginning, previous, type Seq, type SeqRange } from '../point.ts';

/** Where a marker is. */
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

/** Returns whether a marker begins an epoch: it takes a whole view back, so that writers who began before must stop. */
export function beginsEpoch(marker: Marker): boolean {
  return marker.kind === 'rewound' || (marker.kind === 'rewoundToTurn' && marker.only === undefined);
}

interface StructuralEvent {
  readonly branch: string;
  readonly seq: Seq;
  readonly type: string;
  readonly data: JsonObject;
}

/**
 * Reduces a structural event to its marker. The data may have part references, since no field of a marker is one. If a
 * field does not have its form, the store was damaged: `checkData` refuses such an event before it is stored.
 */
export function markerOf(event: StructuralEvent): Marker {
  try {
    return reduced(event);
  } catch (error) {
    throw unreadable(event, error);
  }
}

function reduced({ branch, seq, type, data }: StructuralEvent): Marker {
  const base = { branch, seq };
  const carried = data['event'] as JsonObject | undefined;
  const inner = { turn: Number(carried?.['turn'] ?? 0), type: String(carried?.['type'] ?? '') };
  switch (type) {
    case 'branch.forked':
      return { ...base, kind: 'forked', ...given({ turn: numberAt(data, 'turn') }) };
    case 'payload.erased':
      return { ...base, kind: 'erased', seqs: listAt(data, 'seqs', asSeq), parts: listAt(data, 'parts', asText) };
    case 'event.replaced':
      return { ...base, kind: 'replaced', target: asSeq(data['seq']), ...inner };
    case 'event.inserted':
      return { ...base, kind: 'inserted', after: asSeq(data['after'] ?? beginning), ...inner };
    case 'event.reverted':
      return { ...base, kind: 'reverted', seqs: listAt(data, 'seqs', asSeq), redo: data['redo'] === true };
    default:
      assert(type === 'branch.rewound', `"${type}" is a structural type`);
      if (typeof data['to'] === 'number')
        return { ...base, kind: 'rewound', to: data['to'] as Seq, redo: data['redo'] === true };
      return {
        ...base,
        kind: 'rewoundToTurn',
        toTurn: asNumber(data['toTurn']),
        dropped: listAt(data, 'dropped', asRange),
        ...given({ only: stringAt(data, 'only') }),
      };
  }
}

function listAt<Item>(data: JsonObject, key: string, as: (item: JsonValue | undefined) => Item): Item[] {
  return formed(arrayAt(data, key)).map(as);
}

const asNumber = (value: JsonValue | undefined): number => formed(typeof value === 'number' ? value : undefined);
const asText = (value: JsonValue | undefined): string => formed(typeof value === 'string' ? value : undefined);
const asSeq = (value: JsonValue | undefined): Seq => asNumber(value) as Seq;

function asRange(value: JsonValue | undefined): SeqRange {
  const [after, through] = formed(isArray(value) ? value : undefined);
  return { after: asSeq(after), through: asSeq(through) };
}

function formed<Form>(value: Form | undefined): Form {
  if (value === undefined) throw new TypeError('A field of the event does not have its form');
  return value;
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
export function storedMarker(row: Omit<StructuralEvent, 'data'> & { readonly data: string }): Marker {
  let data: JsonObject;
  try {
    data = JSON.parse(row.data) as JsonObject;
  } catch (error) {
    throw unreadable(row, error);
  }
  return markerOf({ ...row, data });
}

function unreadable({ branch, seq, type }: Omit<StructuralEvent, 'data'>, cause: unknown): RepriseError {
  return new RepriseError('store.damaged', `Cannot read the structural event at "${branch}@${seq}" ("${type}")`, {
    hint: 'Run verify on the branch: the store was damaged or changed.',
    details: { branch, seq },
    cause,
  });
}
