import { useEffect, useState } from 'react';
import { announcement } from '../parts/announcer.ts';
import { useCell } from '../parts/cell.ts';

const shownMs = 4_000;

/** The last thing that was said, for a moment; a screen reader reads it. */
export function Announcements(): React.ReactNode {
  const { text, at } = useCell(announcement);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (text === '') return;
    setShown(true);
    const timer = setTimeout(() => setShown(false), shownMs);
    return () => clearTimeout(timer);
  }, [text, at]);
  return (
    <div className="said" role="status" aria-live="polite" data-shown={isShown || undefined}>
      {isShown ? text : ''}
    </div>
  );
}
