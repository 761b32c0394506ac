import { Cell } from './cell.ts';

/** The last thing that was said to the person: shown for a moment, and read aloud. */
export const announcement: Cell<{ readonly text: string; readonly at: number }> = new Cell({ text: '', at: 0 });

const pauseMs = 2_000;
let waiting: ReturnType<typeof setTimeout> | undefined;
let lastAt = -pauseMs;

/** Says something, at most once in two seconds when it comes from what is live: of several, the last. */
export function announce(text: string, { live = false }: { readonly live?: boolean } = {}): void {
  const now = performance.now();
  clearTimeout(waiting);
  const say = (): void => {
    lastAt = performance.now();
    announcement.set({ text, at: lastAt });
  };
  if (!live || now - lastAt >= pauseMs) say();
  else waiting = setTimeout(say, pauseMs - (now - lastAt));
}
