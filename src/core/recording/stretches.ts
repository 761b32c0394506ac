import { isArray, isObject, type JsonObject, type JsonValue } from '../json.ts';

/**
 * Pieces that are repeated in the kept text of a source: stretches of JSON text, and holes. They are stored once, when
 * the import begins, and a kept text names them by their place in this list. A stretch begins and ends outside of
 * strings, so that a string is never cut in two: an erasure still finds it, in the kept text or in this list, of which
 * it takes that piece.
 */
export type Stretches = readonly (string | JsonObject)[];

/** Returns the stretches that an event has; a piece that was erased is empty, so that no hole is filled from it. */
export const stretchesHeld = (held: JsonValue | undefined): Stretches =>
  isArray(held) ? held.map((piece) => (isObject(piece) || typeof piece === 'string' ? piece : {})) : [];

// A number takes about 4 bytes to write down.
const stretchUnitsMin = 16;

/** Longer values come from people and tools, and the events of a unit have them. */
const valueUnitsMax = 64;

/** Longer pieces are skipped: they are one long string. */
const pieceUnitsMax = 4_096;

const stretchesMax = 64;

/** A part of the units from which a piece counts as repeated, and the fewest units. */
const [partMin, unitsMin] = [0.05, 3];

// A member of an object with its name and a plain value or the beginning of a value, or a value, or a sign.
const member = /("(?:[^"\\]|\\.)*":)?(?:"(?:[^"\\]|\\.)*"|[^",:{}[\]]+)?[,{}[\]]?/gy;

/** Returns the pieces that are repeated in kept text, those that save most first. */
export function stretchesOf(kept: readonly JsonValue[]): Stretches {
  const pieces = kept.map((text) => (isArray(text) ? text : []));
  const least = Math.max(unitsMin, pieces.length * partMin);
  const members = pieces.map((unit) => unit.map((piece) => (typeof piece === 'string' ? membersOf(piece) : [])));
  const counts = countsOf(members.map((unit) => unit.flat().map(({ text }) => text)));
  const isRepeated = (text: string): boolean => (counts.get(text) ?? 0) >= least;
  const runs = countsOf(members.map((unit) => unit.flatMap((some) => runsOf(some, isRepeated))));
  const holes = countsOf(pieces.map((unit) => unit.filter(isObject).map((hole) => JSON.stringify(hole))));
  const found = [
    ...[...runs].map(([text, count]) => ({ piece: text, units: JSON.stringify(text).length, count })),
    ...[...holes].map(([text, count]) => ({ piece: JSON.parse(text) as JsonObject, units: text.length, count })),
  ];
  return found
    .filter(({ units, count }) => count >= least && units >= stretchUnitsMin)
    .sort((a, b) => b.units * b.count - a.units * a.count)
    .slice(0, stretchesMax)
    .map(({ piece }) => piece);
}

/** Counts in how many units each string occurs. */
function countsOf(units: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const texts of units) for (const text of new Set(texts)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

interface Member {
  readonly text: string;
  /** Its name with the colon; undefined for a value or a sign. */
  readonly name: string | undefined;
}

function membersOf(piece: string): Member[] {
  if (piece.length > pieceUnitsMax) return [];
  const members: Member[] = [];
  for (const [text, name] of piece.matchAll(member)) if (text !== '') members.push({ text, name });
  return members;
}

/** Returns the runs of repeated members; a name whose value differs from unit to unit ends one. */
function runsOf(members: readonly Member[], isRepeated: (text: string) => boolean): string[] {
  const runs: string[] = [];
  let run = '';
  for (const { text, name } of members) {
    const isWhole = text.length - (name?.length ?? 0) <= valueUnitsMax && isRepeated(text);
    // A run begins with a name: a kept text is searched at the beginnings of strings.
    if (run !== '' || name !== undefined) run += isWhole ? text : (name ?? '');
    if (isWhole) continue;
    runs.push(run);
    run = '';
  }
  runs.push(run);
  return runs.filter((each) => each.length >= stretchUnitsMin);
}
