import { importsOf } from '../imports.ts';
import { productFiles } from '../syntax.ts';
import type { Rule } from '../tree.ts';

const folder = 'src/projections/';

/** One projection is one file that knows no other: two that need the same thing find it in core. */
export const rule: Rule = (tree) =>
  productFiles(tree)
    .filter((file) => file.path.startsWith(folder))
    .flatMap((file) =>
      importsOf(file)
        .filter((each) => each.target?.startsWith(folder))
        .map((each) => ({ file: file.path, line: each.line, message: `imports the projection "${each.specifier}"` })),
    );
