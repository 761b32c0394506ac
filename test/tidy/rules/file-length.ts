import { productFiles, studioFiles } from '../syntax.ts';
import type { Rule } from '../tree.ts';

const linesMax = 400;

/** A list of exports and nothing else: it grows with the product, and nobody reads it from top to bottom. */
const frontDoor = 'src/index.ts';

/** A file of the product or of the studio has at most 400 lines. */
export const rule: Rule = (tree) =>
  [...productFiles(tree), ...studioFiles(tree)].flatMap((file) => {
    if (file.path === frontDoor) return [];
    const lines = file.text.replace(/\n$/, '').split('\n').length;
    return lines > linesMax
      ? [{ file: file.path, message: `has ${lines} lines, at most ${linesMax} are allowed` }]
      : [];
  });
