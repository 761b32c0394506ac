import { codeFiles, lineAt, syntaxOf } from '../syntax.ts';
import type { Rule } from '../tree.ts';

const fix = /\bFIXME\b|\bXXX\b/;
const later = /\bTODO\b(?!\(#\d+\))/;

/** No "fix me" at all, and no "to do" without the number of its issue, as in `(#12)` right after the word. */
export const rule: Rule = (tree) =>
  codeFiles(tree).flatMap((file) =>
    syntaxOf(file).comments.flatMap((comment) => {
      const line = lineAt(file, comment.start);
      if (fix.test(comment.value)) return [{ file: file.path, line, message: 'leaves something to fix' }];
      if (later.test(comment.value)) return [{ file: file.path, line, message: 'leaves work without an issue number' }];
      return [];
    }),
  );
