import { RepriseError } from '../../core/error.ts';
import { limits } from '../../core/limits.ts';
import { refsIn } from '../../core/parts/decode.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import type { Digest, Seq } from '../../core/point.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import { sessionRef } from '../context/engine.ts';
import { readParts } from '../history/stored-events.ts';
import type { Transfer } from './transfer.ts';

type Row = Pick<StoredEvent, 'seq' | 'data'>;

/** Characters of parts in one batch, so that neither end keeps much in memory. */
const batchTextMax = 8_388_608;

/**
 * Returns the parts that events need and the target lacks, with all that those refer to; undefined if they are too much
 * for one batch. The target got every part with all it refers to, so the walk ends at parts that it has.
 */
export async function missingParts(
  transfer: Transfer,
  branch: string,
  rows: readonly Row[],
): Promise<readonly PartInput[] | undefined> {
  const parts: PartInput[] = [];
  let length = 0;
  for await (const part of walk(transfer, branch, rows)) {
    length += part.text.length;
    if (length > batchTextMax) return undefined;
    parts.push(part);
  }
  return parts;
}

/**
 * Yields the same parts in batches, however many they are. A part comes after all it refers to, so that a copy that is
 * stopped in between leaves no part without its base.
 */
export async function* partBatches(
  transfer: Transfer,
  branch: string,
  rows: readonly Row[],
): AsyncGenerator<readonly PartInput[]> {
  const { from, session } = transfer;
  const refs = new Map<Digest, readonly Digest[]>();
  for await (const part of walk(transfer, branch, rows)) refs.set(part.digest, part.refs);
  let batch: PartInput[] = [];
  let length = 0;
  for (const digest of deepestFirst(refs)) {
    for (const part of (await readParts(from, session, [digest], { depth: 'asked' })).values()) {
      if (length > 0 && length + part.text.length > batchTextMax) {
        yield batch;
        [batch, length] = [[], 0];
      }
      batch.push(part);
      length += part.text.length;
    }
  }
  if (batch.length > 0) yield batch;
}

/** Returns the parts so that each comes before those that refer to it. */
function deepestFirst(refs: ReadonlyMap<Digest, readonly Digest[]>): Digest[] {
  const order = new Set<Digest>();
  const entered = new Set<Digest>();
  const open = [...refs.keys()];
  for (let digest = open.pop(); digest !== undefined; digest = open.pop()) {
    if (order.has(digest)) continue;
    const before = entered.has(digest)
      ? []
      : (refs.get(digest) ?? []).filter((ref) => refs.has(ref) && !order.has(ref));
    entered.add(digest);
    if (before.length === 0) order.add(digest);
    else open.push(digest, ...before);
  }
  return [...order];
}

/** Walks from events to their parts, and from part to part, as far as the target lacks them. */
async function* walk(transfer: Transfer, branch: string, rows: readonly Row[]): AsyncGenerator<PartInput> {
  const { from, session, erasures } = transfer;
  const neededBy = new Map<Digest, Seq>();
  const open: Digest[] = [];
  const need = (digest: Digest, seq: Seq): void => {
    if (neededBy.has(digest)) return;
    neededBy.set(digest, seq);
    open.push(digest);
  };
  for (const { seq, data } of rows) if (data !== null) for (const digest of refsIn(data)) need(digest, seq);
  while (open.length > 0) {
    const lacking = await notAtTarget(transfer, open.splice(0, limits.partsAskedMax));
    const found = new Set<Digest>();
    for (let rest = lacking; rest.length > 0; ) {
      const page = await from.store.parts(sessionRef(from, session), rest, { depth: 'asked' });
      for (const part of page.parts.values()) {
        found.add(part.digest);
        yield part;
        for (const ref of part.refs) need(ref, neededBy.get(part.digest) as Seq);
      }
      rest = [...page.rest];
    }
    const missing = lacking.find((digest) => !found.has(digest) && !erasures.parts.has(digest));
    if (missing !== undefined) throw partMissing(transfer, branch, neededBy.get(missing) as Seq, missing);
  }
}

async function notAtTarget({ to, target }: Transfer, digests: readonly Digest[]): Promise<Digest[]> {
  const { parts, rest } = await to.store.parts(sessionRef(to, target), digests, { depth: 'asked' });
  const held = new Set([...parts.keys(), ...rest]);
  return digests.filter((digest) => !held.has(digest));
}

function partMissing({ session }: Transfer, branch: string, seq: Seq, digest: Digest): RepriseError {
  return new RepriseError(
    'part.missing',
    `Cannot copy session "${session}": "${branch}" at the source: a part of seq ${seq} is missing, and no erasure accounts for it`,
    {
      hint: 'Verify the session at the source: it was damaged or changed there.',
      details: { session, branch, seq, digest },
    },
  );
}
