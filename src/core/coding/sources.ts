import type { Event } from '../event/event.ts';
import { limits } from '../limits.ts';
import type { Seq } from '../point.ts';

/** The events that contain a text. */
export interface Sources {
  /** Every event that spoke of the same thing; the last ones, if there are many. */
  readonly source: readonly Seq[];
  /** How many of the last of them contain the present text; all of them if left out. */
  readonly holding?: number;
  /** The seqs of events that those replaced; missing if they replaced none. */
  readonly replaced?: readonly Seq[];
}

/** Returns the seqs of the events that contain the present text, and of those that they replaced. */
export function holdersOf({ source, holding, replaced }: Sources): readonly Seq[] {
  const held = holding === undefined ? source : source.slice(-holding);
  return replaced === undefined ? held : [...held, ...replaced];
}

/** Adds an event to the sources of an entry; a new text has no holder but the event. */
export function sourcesAfter(known: Sources | undefined, { seq, replaces }: Event, isSameText: boolean): Sources {
  const source = [...(known?.source ?? []), seq].slice(-limits.recordSourcesMax);
  const before = known !== undefined && isSameText ? known : undefined;
  const holding = before === undefined ? 1 : (before.holding ?? before.source.length) + 1;
  const replaced = [...(before?.replaced ?? []), ...(replaces === undefined ? [] : [replaces])];
  return {
    source,
    ...(holding >= source.length ? {} : { holding }),
    ...(replaced.length === 0 ? {} : { replaced: replaced.slice(-limits.recordSourcesMax) }),
  };
}
