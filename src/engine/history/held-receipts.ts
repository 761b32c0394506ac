import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { EventStore, Receipt, SessionRef } from '../../core/store/event-store.ts';

/** Reads the receipts of a session, one page of the store after the other. */
export async function* heldReceipts(
  store: Pick<EventStore, 'heldReceipts'>,
  ref: SessionRef,
): AsyncGenerator<Receipt, void, undefined> {
  let after: Receipt | undefined;
  do {
    const page = await store.heldReceipts(ref, { limit: limits.pageEventsMax, ...given({ after }) });
    yield* page;
    after = page.at(-1);
  } while (after !== undefined);
}
