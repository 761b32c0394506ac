import { rowsOf } from '../../../src/core/session/event-columns.ts';
import type {
  BranchNews,
  IndexChunk,
  IndexView,
  ReadIndexResponse,
} from '../../../src/wire/generated/reprise/v1/studio_pb.ts';
import { columnsFromWire } from '../../../src/wire/index-codec.ts';
import type { IndexPart } from './studio-source.ts';

/** Reads a part of an index from the wire. */
export function indexPart({ part }: ReadIndexResponse): IndexPart | undefined {
  switch (part.case) {
    case 'range':
      return { kind: 'range', head: Number(part.value.through), digest: part.value.digest };
    case 'chunk':
      return rowsPart(part.value);
    case 'view':
      return viewPart(part.value);
    case undefined:
      return undefined;
  }
}

const rowsPart = (chunk: IndexChunk): IndexPart => ({ kind: 'rows', rows: rowsOf(columnsFromWire(chunk)) });

function viewPart({ head, pieces }: IndexView): IndexPart {
  return {
    kind: 'outside',
    stretches: stretchesOutside(
      pieces.map(({ after, through }) => [Number(after) + 1, Number(through)]),
      Number(head),
    ),
  };
}

/** Reads what a branch gained. */
export function newsParts({ chunk, view }: BranchNews): readonly IndexPart[] {
  return [...(chunk === undefined ? [] : [rowsPart(chunk)]), ...(view === undefined ? [] : [viewPart(view)])];
}

/** Returns the stretches of seqs up to a head that no piece of a view covers. */
export function stretchesOutside(
  pieces: readonly (readonly [number, number])[],
  head: number,
): readonly (readonly [number, number])[] {
  const sorted = [...pieces].filter(([from, to]) => to >= from).sort((a, b) => a[0] - b[0]);
  const outside: (readonly [number, number])[] = [];
  let next = 1;
  for (const [from, to] of sorted) {
    if (from > next) outside.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= head) outside.push([next, head]);
  return outside;
}
