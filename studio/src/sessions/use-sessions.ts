import { useEffect, useMemo, useRef, useState } from 'react';
import type { RepriseError } from '../../../src/core/error.ts';
import { useStudio } from '../frame/studio.ts';
import { asError } from '../parts/use-answer.ts';
import { useThrottled } from '../parts/use-throttled.ts';
import type { SessionFilter, SessionRow } from '../source/answers.ts';
import { readSessionQuery } from './session-query.ts';

/** The list of sessions as it is on screen. */
export interface SessionList {
  readonly rows: readonly SessionRow[];
  /** Sessions that began since, and are not in the list yet. */
  readonly fresh: readonly SessionRow[];
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  readonly error: RepriseError | undefined;
  readonly more: () => void;
  /** Puts the new ones on top. */
  readonly take: () => void;
  readonly again: () => void;
}

interface Held {
  readonly rows: readonly SessionRow[];
  readonly cursor: string;
  readonly isLoading: boolean;
  readonly error: RepriseError | undefined;
}

/** How often a filtered list is read again while sessions outside it change. */
const changedMs = 2_000;

/** Returns rows and then others, without those that are there already. */
function withoutTwins(rows: readonly SessionRow[], others: readonly SessionRow[]): readonly SessionRow[] {
  const known = new Set(rows.map(({ session }) => session));
  return [...rows, ...others.filter(({ session }) => !known.has(session))];
}

/** Reads on until a page has rows: one of a narrow filter may be empty and not the last. */
export async function nextPage<Page extends { readonly items: readonly unknown[]; readonly cursor: string }>(
  read: (cursor: string) => Promise<Page>,
  cursor: string,
): Promise<Page> {
  let page = await read(cursor);
  while (page.items.length === 0 && page.cursor !== '') page = await read(page.cursor);
  return page;
}

const empty: Held = { rows: [], cursor: '', isLoading: true, error: undefined };

/** Reads sessions a page at a time. Rows change in place and never move; new ones wait to be taken. */
export function useSessions(query: string): SessionList {
  const { source, namespace } = useStudio();
  const [held, setHeld] = useState<Held>(empty);
  const [fresh, setFresh] = useState<readonly SessionRow[]>([]);
  const [attempt, setAttempt] = useState(0);
  const filter = useMemo((): SessionFilter | RepriseError => {
    try {
      return readSessionQuery(query, Date.now());
    } catch (error) {
      return asError(error);
    }
  }, [query]);
  const isFiltered = !(filter instanceof Error) && Object.keys(filter).length > 0;
  const [changed, setChanged] = useState(0);
  const rows = useRef(held.rows);
  rows.current = held.rows;
  const read = async (cursor: string, signal: AbortSignal): Promise<void> => {
    if (filter instanceof Error) return setHeld({ ...empty, isLoading: false, error: filter });
    const page = await nextPage((from) => source.sessions(namespace, filter, from, signal), cursor);
    const listed = new Set(page.items.map(({ session }) => session));
    setFresh((others) => others.filter(({ session }) => !listed.has(session)));
    setHeld((old) => ({
      rows: cursor === '' ? page.items : withoutTwins(old.rows, page.items),
      cursor: page.cursor,
      isLoading: false,
      error: undefined,
    }));
  };
  useEffect(() => {
    const control = new AbortController();
    setFresh([]);
    read('', control.signal).catch((error: unknown) => {
      if (!control.signal.aborted) setHeld((old) => ({ ...old, isLoading: false, error: asError(error) }));
    });
    return () => control.abort();
  }, [filter, attempt]);
  useEffect(
    () =>
      source.onNews((news) => {
        if (news.kind !== 'session') return;
        const { row } = news;
        setHeld((old) => {
          const at = old.rows.findIndex((each) => each.session === row.session);
          if (at < 0) {
            if (!isFiltered) setFresh((others) => withoutTwins([row], others));
            else setChanged((count) => count + 1);
            return old;
          }
          return { ...old, rows: old.rows.with(at, row) };
        });
      }),
    [source, isFiltered],
  );
  // Only the server can say whether a session that is not in a filtered list belongs to it.
  const settled = useThrottled(changed, changedMs);
  useEffect(() => {
    if (settled === 0 || filter instanceof Error) return;
    const control = new AbortController();
    source
      .sessions(namespace, filter, '', control.signal)
      .then(({ items }) => {
        const known = new Set(rows.current.map(({ session }) => session));
        setFresh(items.filter(({ session }) => !known.has(session)));
      })
      // The list says what is wrong when it is read.
      .catch(() => undefined);
    return () => control.abort();
  }, [settled]);
  return {
    ...held,
    fresh,
    hasMore: held.cursor !== '',
    more: () => {
      read(held.cursor, new AbortController().signal).catch((error: unknown) =>
        setHeld((old) => ({ ...old, error: asError(error) })),
      );
    },
    take: () => {
      setHeld((old) => ({ ...old, rows: withoutTwins(fresh, old.rows) }));
      setFresh([]);
    },
    again: () => setAttempt((count) => count + 1),
  };
}
