import type { JsonObject } from '../../core/json.ts';
import type { Seq } from '../../core/point.ts';
import type { BranchSummary } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { branchRecord } from '../history/place.ts';

/** What the erasures of a session say of what is gone. */
export interface CopyErasures {
  /** Parts that an erasure accounts for. */
  readonly parts: ReadonlySet<string>;
  /** The keys that are left of an event, by {@link placeOf}. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
}

/** Reads the markers of every erasure, wherever they stand. */
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
      for (const [seq, held] of left) keys.set(placeOf(branch, seq), held);
    }
  }
  return { parts, keys };
}

/** Where an event stands, as one text. */
export function placeOf(branch: string, seq: number): string {
  return `${seq}\n${branch}`;
}

async function keysIn(
  engine: Engine,
  session: string,
  branch: string,
  seq: Seq,
): Promise<(readonly [number, readonly string[]])[]> {
  const segment = { branch, after: (seq - 1) as Seq, through: seq, except: [], carried: false };
  const page = await engine.store.read(sessionRef(engine, session), [segment], {
    limit: 1,
    select: 'full',
    direction: 'forward',
  });
  const { keys } = JSON.parse(page.events[0]?.data ?? '{}') as JsonObject;
  const held = Object.entries((keys ?? {}) as Record<string, readonly string[]>);
  return held.map(([at, left]) => [Number(at), left]);
}
