import type { Seq } from '../../core/point.ts';
import { erasedKeys } from '../../core/store/event-keys.ts';
import type { BranchSummary } from '../../core/store/event-store.ts';
import { segmentAt } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { branchRecord } from '../history/place.ts';

/** The parts and keys that the erasures of a session account for. */
export interface CopyErasures {
  /** Erased parts. */
  readonly parts: ReadonlySet<string>;
  /** The keys that are left of an erased event, by {@link pointKey}. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
}

/** Reads the markers of every erasure, on all branches. */
export async function copyErasures(
  engine: Engine,
  session: string,
  branches: readonly BranchSummary[],
): Promise<CopyErasures> {
  const parts = new Set<string>();
  const keys = new Map<string, readonly string[]>();
  for (const { branch } of branches) {
    const { markers } = await branchRecord(engine, session, branch);
    for (const marker of markers) {
      if (marker.kind !== 'erased' || marker.branch !== branch) continue;
      for (const part of marker.parts) parts.add(part);
      const left = await keysIn(engine, session, branch, marker.seq);
      for (const [seq, held] of left) keys.set(pointKey(branch, seq), held);
    }
  }
  return { parts, keys };
}

/** Returns the branch and seq of an event as one text. */
export function pointKey(branch: string, seq: number): string {
  return `${seq}\n${branch}`;
}

async function keysIn(
  engine: Engine,
  session: string,
  branch: string,
  seq: Seq,
): Promise<ReadonlyMap<Seq, readonly string[]>> {
  const ref = sessionRef(engine, session);
  const segments = [segmentAt({ branch, seq })];
  const page = await engine.store.read(ref, segments, { limit: 1, select: 'full', direction: 'forward' });
  return erasedKeys(page.events[0]?.data ?? '{}');
}
