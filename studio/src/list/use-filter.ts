import { useEffect, useMemo, useRef, useState } from 'react';
import type { RepriseError } from '../../../src/core/error.ts';
import type { EventFilter } from '../../../src/core/event/filter.ts';
import { readFilterText } from '../../../src/core/event/filter-words.ts';
import { useStudio } from '../frame/studio.ts';
import type { EventIndex } from '../history/event-index.ts';
import { asError } from '../parts/use-answer.ts';
import type { BranchName } from '../source/studio-source.ts';
import { indexMatch, isEmptyFilter, needsContent } from './index-match.ts';

/** The events that a line of filter words selects. */
export interface Filtered {
  /** Undefined if there is no filter. */
  readonly isMatch: ((seq: number) => boolean) | undefined;
  /** Seqs of events with the searched text, in order. */
  readonly hits: readonly number[];
  /** How many events were searched for text; undefined if none are. */
  readonly searched: number | undefined;
  readonly isSearching: boolean;
  readonly error: RepriseError | undefined;
}

/** The hits that a search collects before it stops. */
const hitsMax = 5_000;

/** How often a history that grows is searched again. */
const grownMs = 2_000;

const nothing: readonly number[] = [];

/** Reads a line of filter words; what the index can judge is judged here, and content is searched for where it is kept. */
export function useFilter(name: BranchName, index: EventIndex, version: number, text: string, raw: boolean): Filtered {
  const read = useMemo((): { readonly filter: EventFilter; readonly error?: RepriseError } => {
    try {
      return { filter: readFilterText(text, Date.now()) };
    } catch (error) {
      return { filter: {}, error: asError(error) };
    }
  }, [text]);
  const { filter } = read;
  const search = useSearch(name, index.head, filter, raw);
  return useMemo(() => {
    const none = { hits: nothing, searched: undefined, isSearching: false, error: read.error };
    if (isEmptyFilter(filter)) return { ...none, isMatch: undefined };
    if (!needsContent(filter)) return { ...none, isMatch: remembered(indexMatch(index, filter), index.head) };
    const found = new Set(search.hits);
    return { ...search, isMatch: (seq) => found.has(seq) };
  }, [filter, index, version, search, read.error]);
}

/** Returns a test that judges each event once: the strip asks about every call at every redraw. */
export function remembered(holds: (seq: number) => boolean, head: number): (seq: number) => boolean {
  const known = new Uint8Array(head + 1);
  return (seq) => {
    const held = known[seq];
    if (held !== undefined && held > 0) return held === 2;
    const result = holds(seq);
    if (seq <= head) known[seq] = result ? 2 : 1;
    return result;
  };
}

type Search = Omit<Filtered, 'isMatch'>;

const idle: Search = { hits: nothing, searched: undefined, isSearching: false, error: undefined };

function useSearch(
  { namespace, session, branch }: BranchName,
  head: number,
  filter: EventFilter,
  raw: boolean,
): Search {
  const { source } = useStudio();
  const [search, setSearch] = useState<Search>(idle);
  const latest = useRef(head);
  latest.current = head;
  const key = needsContent(filter) ? JSON.stringify([namespace, session, branch, filter, raw, head > 0]) : '';
  useEffect(() => {
    if (key === '' || head === 0) return setSearch(idle);
    const control = new AbortController();
    const { signal } = control;
    const searchTo = async (seq: number, isFirst: boolean): Promise<void> => {
      const hits: number[] = [];
      let [searched, cursor] = [0, ''];
      do {
        const page = await source.search({ namespace, session, branch, seq }, filter, raw, cursor, signal);
        hits.push(...page.items.map(({ seq: hit }) => hit));
        searched += page.searched;
        cursor = page.cursor;
        // Hits that are on screen stay until the whole longer history was searched.
        if (isFirst || cursor === '')
          setSearch({ hits: [...hits], searched, isSearching: cursor !== '', error: undefined });
      } while (cursor !== '' && hits.length < hitsMax);
    };
    const run = async (): Promise<void> => {
      for (let through = 0; !signal.aborted; await new Promise((resolve) => setTimeout(resolve, grownMs))) {
        if (latest.current <= through) continue;
        const isFirst = through === 0;
        through = latest.current;
        await searchTo(through, isFirst);
      }
    };
    setSearch({ ...idle, isSearching: true });
    run().catch((error: unknown) => {
      if (!control.signal.aborted) setSearch({ ...idle, error: asError(error) });
    });
    return () => control.abort();
  }, [key]);
  return search;
}
