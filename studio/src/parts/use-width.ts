import { useEffect, useRef, useState } from 'react';

/** Returns a ref for an element, and its width in pixels as it changes. */
export function useWidth<Target extends HTMLElement>(): readonly [React.RefObject<Target | null>, number] {
  const element = useRef<Target>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
