import { limits } from './limits.ts';

// Most strings are one line already, and looking is quicker than writing a new string.
const unfolded = /[^\S ]| {2}|^ | $/;

/** Returns text as one line, without space around it. */
export function oneLine(text: string): string {
  return unfolded.test(text) ? text.replace(/\s+/g, ' ').trim() : text;
}

/** Returns the title of a text: one line, cut with an ellipsis if it is too long. */
export function titleOf(text: string): string {
  const line = oneLine(text);
  const max = limits.titleCharactersMax;
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}
