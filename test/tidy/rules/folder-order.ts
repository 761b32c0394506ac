import { folderOf, refuseFolder } from '../folders.ts';
import { importsOf } from '../imports.ts';
import { productFiles } from '../syntax.ts';
import type { Problem, Rule, TreeFile } from '../tree.ts';

/** Folders of a room know those before them in the table. An import that runs later, `import()`, does not count. */
export const rule: Rule = (tree) =>
  productFiles(tree)
    .filter((file) => folderOf(file.path) !== undefined)
    .flatMap((file) => [...unknownFolder(file), ...outOfOrder(file)]);

function unknownFolder(file: TreeFile): Problem[] {
  const message = refuseFolder(file.path, file.path);
  return message === undefined ? [] : [{ file: file.path, message }];
}

function outOfOrder(file: TreeFile): Problem[] {
  return importsOf(file).flatMap(({ target, line, isLater }) => {
    const message = target === undefined || isLater ? undefined : refuseFolder(file.path, target);
    return message === undefined ? [] : [{ file: file.path, line, message }];
  });
}
