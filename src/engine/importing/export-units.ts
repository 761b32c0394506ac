import type { Event } from '../../core/event/event.ts';
import { isArray, isObject, type JsonObject, type JsonValue, numberAt, stringAt } from '../../core/json.ts';
import type { Seq } from '../../core/point.ts';
import type { ForeignWriter } from '../../core/recording/foreign-format.ts';
import { keptBytes } from '../../core/recording/kept-bytes.ts';
import { fillText } from '../../core/recording/kept-text.ts';
import type { Stretches } from '../../core/recording/stretches.ts';
import { stretchesIn } from './source-stretches.ts';
import { erasedPlace, isImported, placeOf, startsUnit, type UnitGroup, type UnitSpot } from './unit-places.ts';

/** A unit of an exported file. */
export interface ExportedUnit {
  readonly file: string;
  /** The base that has it, if the source continues a different one. */
  readonly base?: string | undefined;
  /** Its place in the file it was read from; undefined for one that was recorded here. */
  readonly at: number | undefined;
  readonly text: string | Uint8Array;
  /** The end of its line, if it is not a line feed. */
  readonly end: string | undefined;
  /** The seq of the event that it is written from. */
  readonly seq: Seq;
}

/** A unit of the source that an export does not give back as it was, and why. */
export interface DifferingUnit {
  readonly file: string;
  /** Its place in the file; null for the text around the units. */
  readonly at: number | null;
  readonly why: 'erased' | 'masked' | 'edited' | 'removed';
}

interface Group extends UnitGroup {
  readonly events: Event[];
}

/** A unit as the log keeps it. */
export interface KeptUnit extends UnitSpot {
  /** The id of its first event. */
  readonly id: string;
  /** Undefined if it was erased. */
  readonly text: string | Uint8Array | undefined;
  readonly end: string | undefined;
  /** The seq of its last event. */
  readonly last: Seq;
}

/** The events of a history as they are stored and as they are in view. */
export interface ExportedHistory {
  readonly raw: readonly Event[];
  readonly view: readonly Event[];
}

/** Returns the text of an unchanged unit, and why it differs from its source if it does. */
export function plainUnit(
  group: UnitGroup,
  stretches: Stretches,
): { readonly unit: ExportedUnit | undefined; readonly differs: DifferingUnit | undefined } {
  const unit = unitOf(group, group.events, stretches);
  const why = differenceOf(group, unit);
  return { unit, differs: why === undefined ? undefined : { file: group.file, at: group.at, why } };
}

/** Returns the units of a history as the log keeps them, erased ones included. */
export function keptUnits(raw: readonly Event[]): readonly KeptUnit[] {
  const stretches = stretchesIn(raw);
  return groupsOf(raw).flatMap((group) => {
    const { file, base, at, events } = group;
    const [first, last] = [events[0], events.at(-1)];
    if (first === undefined || last === undefined) return [];
    const unit = unitOf(group, events, stretches);
    return [{ file, base, at, id: first.id, text: unit?.text, end: unit?.end, last: last.seq }];
  });
}

function differenceOf({ events }: UnitGroup, unit: ExportedUnit | undefined): DifferingUnit['why'] | undefined {
  if (unit === undefined) return 'erased';
  return events.some(({ data }) => data['masked'] !== undefined) ? 'masked' : undefined;
}

/** Returns the units of a history with its edits, and those of the events that were recorded here. */
export function changedUnits(
  { raw, view }: ExportedHistory,
  before: ReadonlySet<number>,
  writer: ForeignWriter | undefined,
): { readonly units: ExportedUnit[]; readonly differs: DifferingUnit[] } {
  const [origins, stretches] = [originsOf(raw), stretchesIn(raw)];
  const current = new Map(view.map((event) => [origins.get(event.seq) ?? event.replaces ?? event.seq, event]));
  const units: ExportedUnit[] = [];
  const differs: DifferingUnit[] = [];
  const groups = new Map(groupsOf(raw).map((group) => [Number(group.events[0]?.seq), group]));
  const member = new Set([...groups.values()].flatMap(({ events }) => events.map(({ seq }) => seq)));
  const seqs = new Set([...raw.map(({ seq }) => seq), ...view.map(({ seq }) => seq)]);
  for (const seq of [...seqs].sort((a, b) => a - b)) {
    const group = groups.get(seq);
    if (group !== undefined) {
      const kept = unitOf(group, group.events, stretches);
      const { unit, why } = changedUnit(group, kept, current, before, writer);
      if (unit !== undefined) units.push(unit);
      else if (kept === undefined && isForkedIn(group)) units.push(...writtenAnew(group, current, writer));
      if (why !== undefined) differs.push({ file: group.file, at: group.at, why });
    } else if (!member.has(seq)) {
      const event = view.find((each) => each.seq === seq);
      const isOwn = event !== undefined && event.replaces === undefined && !isImported(event);
      for (const text of isOwn ? (writer?.event(event) ?? []) : [])
        units.push({ file: '', at: undefined, text, end: undefined, seq });
    }
  }
  const last = view.at(-1)?.seq;
  if (last !== undefined)
    for (const text of writer?.end?.() ?? []) units.push({ file: '', at: undefined, text, end: undefined, seq: last });
  return { units, differs };
}

/** Returns true if a fork left out the last events of a unit: its text names them, and cannot be filled. */
const isForkedIn = ({ events }: Group): boolean => events.every(({ erased }) => erased !== true);

/** Returns the units of the events of a unit that are in view, written as those that were recorded here. */
function writtenAnew(
  { events }: Group,
  current: ReadonlyMap<number, Event>,
  writer: ForeignWriter | undefined,
): ExportedUnit[] {
  return events.flatMap(({ seq }) => {
    const event = current.get(seq);
    const texts = event === undefined ? [] : (writer?.event(event) ?? []);
    return texts.map((text) => ({ file: '', at: undefined, text, end: undefined, seq }));
  });
}

function changedUnit(
  group: Group,
  unit: ExportedUnit | undefined,
  current: ReadonlyMap<number, Event>,
  before: ReadonlySet<number>,
  writer: ForeignWriter | undefined,
): { readonly unit?: ExportedUnit | undefined; readonly why?: DifferingUnit['why'] | undefined } {
  const now = group.events.flatMap((event) => current.get(event.seq) ?? []);
  const isWhole =
    now.length === group.events.length &&
    now.every((event, index) => event === group.events[index] || event.replaces === undefined);
  if (isWhole) return { unit, why: differenceOf(group, unit) };
  // The source itself rewound it before anybody changed the history.
  if (now.length === 0 && group.events.every(({ seq }) => !before.has(seq))) return { unit };
  const [first] = group.events;
  if (now.length === 0 || first === undefined || !current.has(first.seq)) return { why: 'removed' };
  const text = typeof unit?.text === 'string' ? unit.text : undefined;
  if (unit === undefined || text === undefined) return { why: 'erased' };
  const edited = writer?.edited?.(text, now) ?? withStrings(text, group.events, current);
  return { unit: { ...unit, text: edited }, why: 'edited' };
}

/** Returns the seq that each replacement replaced in the end. */
function originsOf(raw: readonly Event[]): ReadonlyMap<number, number> {
  const origins = new Map<number, number>();
  for (const { type, seq, data } of raw) {
    const target = numberAt(data, 'seq');
    if (type === 'event.replaced' && target !== undefined) origins.set(seq, origins.get(target) ?? target);
  }
  return origins;
}

/** Returns the events of each unit. Of a unit that was read twice, the second reading counts. */
function groupsOf(raw: readonly Event[]): Group[] {
  const groups: Group[] = [];
  const latest = new Map<string, Group>();
  for (const event of raw) {
    const last = groups.at(-1);
    const own = placeOf(event);
    const place = own ?? erasedPlace(event, last);
    if (place === undefined) continue;
    if (!startsUnit(event) && last !== undefined && last.file === place.file && last.at === place.at)
      last.events.push(event);
    else {
      const group = { ...place, events: [event] };
      groups.push(group);
      // The place of an erased event is a guess.
      if (own !== undefined) latest.set(`${place.file}\n${place.at}`, group);
    }
  }
  return groups.filter((group) => (latest.get(`${group.file}\n${group.at}`) ?? group) === group || isErased(group));
}

const isErased = ({ events }: Group): boolean => events[0]?.erased === true;

function unitOf(
  { file, base, at }: UnitGroup,
  events: readonly Event[],
  stretches: Stretches,
): ExportedUnit | undefined {
  const [first] = events;
  const foreign = first?.data['foreign'];
  // The text of a unit tells what every one of its events says.
  if (first === undefined || !isObject(foreign) || events.some(({ erased }) => erased === true)) return undefined;
  const bytes = stringAt(foreign, 'bytes');
  const text =
    bytes === undefined ? fillText(foreign['text'] ?? null, (of) => events[of]?.data, stretches) : keptBytes(bytes);
  return text === undefined ? undefined : { file, base, at, text, end: stringAt(foreign, 'end'), seq: first.seq };
}

/** Returns the text of a unit with the strings that an edit changed, where JSON wrote the old ones. */
function withStrings(text: string, events: readonly Event[], current: ReadonlyMap<number, Event>): string {
  let edited = text;
  for (const event of events) {
    const after = current.get(event.seq)?.data ?? {};
    for (const [old, now] of changedStrings(event.data, after))
      edited = edited.split(JSON.stringify(old)).join(JSON.stringify(now));
  }
  return edited;
}

function changedStrings(before: JsonValue | undefined, after: JsonValue | undefined): [string, string][] {
  if (typeof before === 'string') return typeof after === 'string' && after !== before ? [[before, after]] : [];
  if (isArray(before))
    return before.flatMap((item, index) => changedStrings(item, isArray(after) ? after[index] : undefined));
  if (!isObject(before)) return [];
  const held: JsonObject = isObject(after) ? after : {};
  return Object.keys(before).flatMap((key) => (key === 'foreign' ? [] : changedStrings(before[key], held[key])));
}
