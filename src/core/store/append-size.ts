import { checkBytes, checkLimit, isSurelyWithin } from '../limits.ts';

/** As much of a batch as its size depends on. */
interface SizedBatch {
  readonly events: readonly { readonly data: string | null }[];
  readonly parts: readonly { readonly text: string }[];
}

/** Returns the length of the strings of a batch, in UTF-16 units. */
export function textLength({ events, parts }: SizedBatch): number {
  let length = 0;
  for (const event of events) length += event.data?.length ?? 0;
  for (const part of parts) length += part.text.length;
  return length;
}

/** Refuses a batch that is too large. A writer that checks before it sends saves the round trip. */
export function checkSize(batch: SizedBatch): void {
  const { events, parts } = batch;
  checkLimit('appendEventsMax', events.length, 'append a batch');
  if (isSurelyWithin('appendBytesMax', textLength(batch))) return;
  const texts = [...events.map(({ data }) => data ?? ''), ...parts.map(({ text }) => text)];
  checkBytes('appendBytesMax', texts, 'append a batch');
}
