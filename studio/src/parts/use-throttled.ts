import { useEffect, useRef, useState } from 'react';

/** Returns a value that changes at most once in so many milliseconds: at once after a rest, and then with the last value. */
export function useThrottled<Value>(value: Value, everyMs: number): Value {
  const [shown, setShown] = useState(value);
  const changedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (value === shown) return;
    const show = (): void => {
      changedAt.current = performance.now();
      setShown(value);
    };
    const timer = setTimeout(show, Math.max(0, changedAt.current + everyMs - performance.now()));
    return () => clearTimeout(timer);
  }, [value, shown, everyMs]);
  return shown;
}
