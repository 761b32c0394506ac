import { limits } from './limits.ts';

/** Returns text as one line, without space around it. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns the title that stands for a text: one line, cut with an ellipsis if it is too long. */
export function titleOf(text: string): string {
  const line = oneLine(text);
  const max = limits.titleCharactersMax;
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}
