import { expect } from 'vitest';
import { openReprise } from '../../src/index.ts';
import type { StateOperation, StateTransaction } from '../../src/results.ts';
import { all } from '../verbs/verb-case.ts';

/** One transaction, as a process reported it. */
export type StateLine =
  | { readonly kind: 'opened' }
  | { readonly kind: 'began'; readonly txn: string }
  | { readonly kind: 'conflict'; readonly txn: string }
  | {
      readonly kind: 'committed';
      readonly txn: string;
      readonly seq: number;
      readonly began: string;
      readonly ended: string;
    };

interface Written {
  readonly saw: Readonly<Record<string, number>>;
  readonly size: number;
  readonly scanned?: number;
}

/**
 * Holds what is stored against a program that runs one transaction after the other: each must have seen exactly what those
 * before it left, all that was acknowledged is there, nothing that ended in a conflict is, and no transaction stands before
 * one that had ended when it began. Gives how many there are.
 */
export async function checkState(store: string, lines: readonly StateLine[]): Promise<number> {
  await using reprise = await openReprise(store);
  const session = await reprise.session('demo');
  const stored = await all(session.state.replay({ agent: null }));
  const versions = new Map<string, number>();
  const exists = new Set<string>();
  let count = 0;
  for (const one of stored) {
    checkSeen(one, versions, exists);
    for (const operation of one.operations) {
      apply(operation, versions, exists, one);
      const { n } = (operation.key === 'count' ? operation.value : {}) as { readonly n?: number };
      if (n !== undefined) expect(n, `no increment before seq ${one.seq} is lost`).toBe(++count);
    }
  }
  const scanned = await all(session.state.scan(''));
  expect(new Map(scanned.map(({ key, version }) => [key, version]))).toEqual(
    new Map([...versions].filter(([key]) => exists.has(key)).sort()),
  );
  checkSaid(stored, lines);
  expect(await session.verify()).toMatchObject({ ok: true });
  return stored.length;
}

function checkSeen(
  { seq, operations }: StateTransaction,
  versions: ReadonlyMap<string, number>,
  exists: ReadonlySet<string>,
): void {
  const log = operations.find(({ key }) => key.startsWith('log/')) as StateOperation;
  const { saw, size, scanned } = log.value as unknown as Written;
  expect(operations.length, `seq ${seq} is whole`).toBe(size);
  for (const [key, version] of Object.entries(saw))
    expect(version, `what seq ${seq} read of ${key}`).toBe(versions.get(key) ?? 0);
  const sum = [...versions].reduce(
    (total, [key, version]) => total + (key.startsWith('k') && exists.has(key) ? version : 0),
    0,
  );
  if (scanned !== undefined) expect(scanned, `what seq ${seq} scanned`).toBe(sum);
}

function apply(
  { key, op, version }: StateOperation,
  versions: Map<string, number>,
  exists: Set<string>,
  { seq }: StateTransaction,
): void {
  expect(version, `version of ${key} at seq ${seq}`).toBe((versions.get(key) ?? 0) + 1);
  versions.set(key, version);
  if (op === 'write') exists.add(key);
  else exists.delete(key);
}

function checkSaid(stored: readonly StateTransaction[], lines: readonly StateLine[]): void {
  const seqs = new Map(stored.map(({ txn, seq }) => [txn, seq]));
  const began = new Set(lines.flatMap((line) => (line.kind === 'began' ? [line.txn] : [])));
  for (const { txn } of stored) expect(began.has(txn), `${txn} was announced`).toBe(true);
  const committed = lines.filter((line) => line.kind === 'committed');
  for (const { txn, seq } of committed) expect(seqs.get(txn), `acknowledged ${txn}`).toBe(seq);
  for (const line of lines) if (line.kind === 'conflict') expect(seqs.has(line.txn)).toBe(false);
  // In the order of seqs, no transaction may have begun after a later one had ended.
  let earliest = BigInt(Number.MAX_SAFE_INTEGER) * 1_000n;
  for (const { seq, began: from, ended } of committed.toSorted((a, b) => b.seq - a.seq)) {
    expect(BigInt(from) <= earliest, `seq ${seq} stands before one that had ended when it began`).toBe(true);
    earliest = BigInt(ended) < earliest ? BigInt(ended) : earliest;
  }
}
