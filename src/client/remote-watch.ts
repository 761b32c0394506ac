import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type { Seq } from '../core/point.ts';
import type { BranchRef } from '../core/store/event-store.ts';
import type { StoreService } from '../wire/generated/reprise/v1/store_pb.ts';
import { branchRefToWire } from '../wire/session-codec.ts';
import { seqFrom, toWhole } from '../wire/whole-number.ts';
import { awake } from './awake.ts';
import { failureOf } from './call-error.ts';
import type { PatientCalls } from './patient-calls.ts';

/** Follows the head of a branch; after a lost connection, it continues after the last head it saw. */
export async function* remoteWatch(
  client: Client<typeof StoreService>,
  calls: PatientCalls,
  ref: BranchRef,
  after: Seq,
  asked: AbortSignal,
): AsyncGenerator<Seq, void, undefined> {
  calls.checkOpen();
  const stop = new AbortController();
  const signal = AbortSignal.any([asked, calls.closing, stop.signal]);
  let seen = after;
  let patience = calls.patience();
  try {
    while (!signal.aborted) {
      try {
        const request = { branch: branchRefToWire(ref), after: toWhole(seen) };
        const heads = (until: AbortSignal) => client.watch(request, { signal: until, timeoutMs: 0 });
        for await (const { head } of awake(heads, signal)) {
          patience = calls.patience();
          if (head === undefined || signal.aborted) continue;
          seen = seqFrom(head);
          yield seen;
        }
        if (!signal.aborted) await patience(new ConnectError('The server ended the stream', Code.Unavailable));
      } catch (thrown) {
        if (signal.aborted) return;
        const failure = failureOf(thrown);
        if (failure.kind === 'refused') throw failure.error;
        await patience(failure.error);
      }
    }
  } finally {
    stop.abort();
  }
}
