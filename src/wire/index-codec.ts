import type { MessageInitShape } from '@bufbuild/protobuf';
import type { EventColumns } from '../core/session/event-columns.ts';
import type { IndexChunk, IndexChunkSchema } from './generated/reprise/v1/studio_pb.ts';
import { fromWhole, toWhole } from './whole-number.ts';

/** The longest time between two events that the column of times carries, in milliseconds. */
const gapMax = 2_147_483_647;

const isGap = (ms: number): boolean => Math.abs(ms) > gapMax;

/** Writes the columns of an index. */
export function columnsToWire(columns: EventColumns): MessageInitShape<typeof IndexChunkSchema> {
  const { first, startedAt, time, ...rest } = columns;
  const gapAt = time.flatMap((ms, row) => (isGap(ms) ? [row] : []));
  const lists: Record<string, readonly (number | string)[]> = rest;
  const copies = Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, [...values]]));
  return {
    ...(copies as MessageInitShape<typeof IndexChunkSchema>),
    first: toWhole(first),
    startedAt: toWhole(startedAt),
    time: time.map((ms) => (isGap(ms) ? 0 : ms)),
    gapAt,
    gapMs: gapAt.map((row) => time[row] ?? 0),
  };
}

/** Reads the columns of an index. */
export function columnsFromWire(chunk: IndexChunk): EventColumns {
  const { $typeName: _, $unknown: __, first, startedAt, gapAt, gapMs, ...columns } = chunk;
  const time = [...columns.time];
  for (const [index, row] of gapAt.entries()) time[row] = gapMs[index] ?? 0;
  return { ...columns, first: fromWhole(first), startedAt: fromWhole(startedAt), time };
}
