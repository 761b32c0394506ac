import type { ContextMark } from '../source/answers.ts';

/** The sign and the word of each mark of a context. */
export const marks: Readonly<Record<ContextMark, { readonly sign: string; readonly word: string }>> = {
  new: { sign: '+', word: 'new' },
  same: { sign: '≡', word: 'as before' },
  edited: { sign: '~', word: 'edited' },
  erased: { sign: '▒', word: 'erased' },
  dropped: { sign: '✕', word: 'dropped' },
};
