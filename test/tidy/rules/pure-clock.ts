import { pureRooms, roomOf } from '../rooms.ts';
import { lineAt, nameOf, nodesOf, productFiles } from '../syntax.ts';
import type { Rule } from '../tree.ts';

/** `new Date()` and `Date()` read the clock, which pure code has not; the linter has no rule that tells them apart. */
export const rule: Rule = (tree) =>
  productFiles(tree)
    .filter((file) => pureRooms.includes(roomOf(file.path) ?? ''))
    .flatMap((file) =>
      [...nodesOf(file)]
        .filter((node) => nameOf(node['callee']) === 'Date')
        .filter((node) => node.type === 'CallExpression' || (node['arguments'] as unknown[]).length === 0)
        .map((node) => ({
          file: file.path,
          line: lineAt(file, node.start),
          message: 'reads the clock: take a Clock port',
        })),
    );
