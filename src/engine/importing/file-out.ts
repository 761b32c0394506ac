import { isArray, type JsonObject } from '../../core/json.ts';
import type { UnitFrame } from '../../core/recording/foreign-format.ts';
import type { DifferingUnit, ExportedUnit } from './export-units.ts';

/** A unit on its way out, and why it differs from its source; no unit if it was erased. */
export interface UnitOut {
  readonly unit: ExportedUnit | undefined;
  readonly differs: DifferingUnit | undefined;
}

/** A file on its way out. */
export interface FileOut {
  /** Its path below the main file; empty for that one. */
  readonly file: string;
  /** The text around its units; undefined if each of them is a line. */
  readonly frame: SourceFrame | undefined;
  /** Reads its units in order. */
  readonly units: () => AsyncIterable<UnitOut>;
}

/** The text around the units of a file: that of its source, or that of a writer. */
export type SourceFrame =
  | { readonly kind: 'source'; readonly data: JsonObject }
  | { readonly kind: 'writer'; readonly frame: UnitFrame };

/** Reads the text of a file piece by piece: its units, and the text around them. */
export async function* textOf({ file, frame, units }: FileOut): AsyncGenerator<{
  readonly pieces: readonly (string | Uint8Array)[];
  readonly differs: DifferingUnit | undefined;
}> {
  const { head, tail, between, isEmpty, empty } = aroundOf(frame);
  let count = 0;
  let end = '';
  for await (const { unit, differs } of units()) {
    if (unit === undefined || isEmpty) {
      yield { pieces: [], differs };
      continue;
    }
    // A last line without an end gets one if a line follows.
    const before = frame === undefined && count > 0 && end === '' ? '\n' : between(count);
    end = frame === undefined ? (unit.end ?? '\n') : '';
    yield { pieces: [count === 0 ? head : '', before, unit.text, end], differs };
    count++;
  }
  const isMasked = frame?.kind === 'source' && frame.data['masked'] !== undefined;
  const differs = isMasked ? ({ file, at: null, why: 'masked' } as const) : undefined;
  yield { pieces: count === 0 ? [empty] : [tail], differs };
}

interface Around {
  readonly head: string;
  readonly tail: string;
  /** Returns the text before a unit, by its place. */
  readonly between: (count: number) => string;
  /** Whether the source had no units: then the frame is all of it. */
  readonly isEmpty: boolean;
  /** The whole file if it has no unit. */
  readonly empty: string;
}

function aroundOf(frame: SourceFrame | undefined): Around {
  if (frame === undefined) return { head: '', tail: '', between: () => '', isEmpty: false, empty: '' };
  if (frame.kind === 'writer') {
    const { head, between, tail, empty = `${head}${tail}` } = frame.frame;
    return { head, tail, between: (count) => (count === 0 ? '' : between), isEmpty: false, empty };
  }
  const { head, tail, between, events } = frame.data;
  const outside = (text: JsonObject[string] | undefined): string => (typeof text === 'string' ? text : '');
  const separator = (index: number): string => {
    const own = isArray(between) ? between[index] : between;
    return typeof own === 'string' ? own : ',\n    ';
  };
  return {
    head: outside(head),
    tail: outside(tail),
    between: (count) => (count === 0 ? '' : separator(count - 1)),
    isEmpty: events === 0,
    empty: `${outside(head)}${outside(tail)}`,
  };
}
