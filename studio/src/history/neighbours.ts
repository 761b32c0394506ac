import type { EventIndex } from './event-index.ts';

/** A way to go from an event to a different one. */
export type Step = 'event' | 'model' | 'turn' | 'error';

/** Returns the next event in a direction: any, of a model call, of a different turn, of an error; undefined at the end. */
export function stepFrom(
  index: EventIndex,
  seq: number,
  step: Step,
  direction: 1 | -1,
  isShown: (seq: number) => boolean = () => true,
): number | undefined {
  const { columns, head } = index;
  const model = index.numberOf('kind', 'model');
  const started = index.numberOf('type', 'call.started');
  const isWanted = (at: number): boolean => {
    if (!isShown(at)) return false;
    if (step === 'event') return true;
    if (step === 'error') return index.isError(at);
    if (step === 'model') return columns.kind[at] === model && columns.type[at] === started;
    return columns.turn[at] !== columns.turn[seq] && columns.turn[at] !== columns.turn[at - 1];
  };
  for (let at = seq + direction; at >= 1 && at <= head; at += direction) if (isWanted(at)) return at;
  return undefined;
}

/** Returns the seq at which a session opens: its first error, else its head. */
export function openingSeq(index: EventIndex): number {
  for (let seq = 1; seq <= index.head; seq++) if (index.isError(seq)) return seq;
  return index.head;
}
