import { clockAtStart, clockWith } from '../../../core/event/clock.ts';
import { erasedKeys } from '../../../core/store/event-keys.ts';
import {
  clockFault,
  FaultList,
  keyFault,
  type ReindexOutcome,
  type ReindexRequest,
} from '../../../core/store/reindex-request.ts';
import { firstSeq, type HeldBranch, type HeldSession, indexEvent, unindexEvent } from '../shelf.ts';
import { eventKeys } from './erase.ts';

/** Compares the key index and the clocks of a session with its events, and rebuilds them unless it only compares. */
export function reindex(session: HeldSession, { dryRun = false }: ReindexRequest): ReindexOutcome {
  const faults = new FaultList();
  for (const branch of session.branches.values()) {
    compareKeys(session, branch, { faults, dryRun });
    compareClocks(branch, { faults, dryRun });
  }
  return faults.outcome;
}

interface Comparison {
  readonly faults: FaultList;
  readonly dryRun: boolean;
}

function compareKeys(session: HeldSession, branch: HeldBranch, { faults, dryRun }: Comparison): void {
  const kept = new Map(
    branch.events.flatMap((event) => (event.type === 'payload.erased' ? [...erasedKeys(event.data ?? '{}')] : [])),
  );
  const keysAt = branch.events.map((event) => new Set(kept.get(event.seq) ?? eventKeys(session, event)));
  for (const [index, { seq }] of branch.events.entries())
    for (const key of keysAt[index] ?? []) {
      if (branch.keys.get(key)?.includes(seq) === true) continue;
      faults.add(keyFault({ branch: branch.name, seq }, key, 'missing'));
      if (!dryRun) indexEvent(branch, key, seq);
    }
  for (const [key, seqs] of new Map(branch.keys))
    for (const seq of seqs) {
      if (keysAt[seq - firstSeq(branch)]?.has(key) === true) continue;
      faults.add(keyFault({ branch: branch.name, seq }, key, 'wrong'));
      if (!dryRun) unindexEvent(branch, [key], seq);
    }
}

function compareClocks(branch: HeldBranch, { faults, dryRun }: Comparison): void {
  let clock = clockAtStart;
  for (const [index, event] of branch.events.entries()) {
    clock = clockWith(clock, event);
    const held = branch.clocks[index];
    if (held?.time === clock.time && held.turn === clock.turn) continue;
    faults.add(clockFault(branch.name, event.seq));
    if (!dryRun) branch.clocks[index] = clock;
  }
}
