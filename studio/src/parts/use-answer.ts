import { useCallback, useEffect, useRef, useState } from 'react';
import { BoundedMap } from '../../../src/core/bounded-map.ts';
import { RepriseError } from '../../../src/core/error.ts';
import { SharedQuestions } from './shared-questions.ts';

/** An answer that was asked for. While a new one is on its way, the old one stays. */
export interface Answer<Value> {
  readonly value: Value | undefined;
  /** Whether the value belongs to an earlier question, and has for a moment. */
  readonly isStale: boolean;
  /** Whether there is nothing to show yet. */
  readonly isLoading: boolean;
  readonly error: RepriseError | undefined;
  readonly again: () => void;
}

/** Answers that were asked for last. A recorded point never changes, so its answers stay right. */
const kept = new BoundedMap<string, unknown>(300);

const questions = new SharedQuestions();

/** Forgets kept answers: something was erased, or a different store is open. */
export function forgetAnswers(): void {
  kept.clear();
}

const staleAfterMs = 120;

/** Questions that follow each other faster than this are asked only when they rest: a server keeps working on abandoned requests. */
const hurriedMs = 150;
const restMs = 80;

interface Held<Value> {
  readonly key: string | undefined;
  readonly value: Value | undefined;
  readonly error: RepriseError | undefined;
}

/**
 * Asks for an answer whenever the key changes; a question that was left is aborted, and its answer is never shown.
 * Without a key nothing is asked.
 */
export function useAnswer<Value>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<Value>,
  { keep = true }: { readonly keep?: boolean } = {},
): Answer<Value> {
  const [held, setHeld] = useState<Held<Value>>({ key: undefined, value: undefined, error: undefined });
  const [attempt, setAttempt] = useState(0);
  const [isLate, setLate] = useState(false);
  const question = useRef(ask);
  question.current = ask;
  const askedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (key === undefined) return;
    const known = keep ? kept.get(key) : undefined;
    if (known !== undefined) {
      setHeld({ key, value: known as Value, error: undefined });
      return;
    }
    const control = new AbortController();
    const late = setTimeout(() => setLate(true), staleAfterMs);
    const now = (): void => {
      askedAt.current = performance.now();
      const { signal } = control;
      const asked = keep ? questions.ask(key, (own) => question.current(own), signal) : question.current(signal);
      asked
        .then((value) => {
          if (control.signal.aborted) return;
          if (keep) kept.set(key, value);
          setHeld({ key, value, error: undefined });
        })
        .catch((error: unknown) => {
          if (!control.signal.aborted) setHeld((old) => ({ key, value: old.value, error: asError(error) }));
        })
        .finally(() => {
          clearTimeout(late);
          if (!control.signal.aborted) setLate(false);
        });
    };
    const isHurried = performance.now() - askedAt.current < hurriedMs;
    const rest = isHurried ? setTimeout(now, restMs) : undefined;
    if (!isHurried) now();
    return () => {
      control.abort();
      clearTimeout(late);
      clearTimeout(rest);
      // A reader who hurries on is still in a hurry, even if nothing was asked in between.
      if (isHurried) askedAt.current = performance.now();
    };
  }, [key, attempt, keep]);
  const again = useCallback(() => setAttempt((count) => count + 1), []);
  const isCurrent = held.key === key;
  return {
    value: held.value,
    isStale: !isCurrent && isLate,
    isLoading: key !== undefined && held.value === undefined && held.error === undefined,
    error: isCurrent ? held.error : undefined,
    again,
  };
}

/** Returns anything that was thrown as an error with a code. */
export function asError(error: unknown): RepriseError {
  if (error instanceof RepriseError) return error;
  return RepriseError.from({ message: error instanceof Error ? error.message : String(error) });
}
