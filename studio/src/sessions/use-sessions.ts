import { useEffect, useMemo, useState } from 'react';
import type { RepriseError } from '../../../src/core/error.ts';
import { useStudio } from '../frame/studio.ts';
import { asError } from '../parts/use-answer.ts';
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
  const read = async (cursor: string, signal: AbortSignal): Promise<void> => {
    if (filter instanceof Error) return setHeld({ ...empty, isLoading: false, error: filter });
    const page = await source.sessions(namespace, filter, cursor, signal);
    setHeld((old) => ({
      rows: cursor === '' ? page.items : [...old.rows, ...page.items],
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
            setFresh((others) => [row, ...others.filter((each) => each.session !== row.session)]);
            return old;
          }
          return { ...old, rows: old.rows.with(at, row) };
        });
      }),
    [source],
  );
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
      setHeld((old) => ({ ...old, rows: [...fresh, ...old.rows] }));
      setFresh([]);
    },
    again: () => setAttempt((count) => count + 1),
  };
}
