import { type Import, importsOf } from '../imports.ts';
import { refusePackage, refusePorch, refuseRoom, roomOf } from '../rooms.ts';
import { productFiles } from '../syntax.ts';
import type { Problem, Rule, TreeFile } from '../tree.ts';

/** Rooms know core and what the table allows, never a sibling. Tests may use any room. */
export const rule: Rule = (tree) =>
  productFiles(tree).flatMap((file) => {
    const room = roomOf(file.path);
    if (room === undefined) return [];
    return importsOf(file).flatMap((each) => refused(file, room, each));
  });

function refused(file: TreeFile, room: string, each: Import): Problem[] {
  const message = each.target === undefined ? refusePackage(room, each.specifier) : refuseTarget(room, each.target);
  return message === undefined ? [] : [{ file: file.path, line: each.line, message }];
}

function refuseTarget(room: string, target: string): string | undefined {
  if (!target.startsWith('src/')) return `"${room}" may not import "${target}", which is outside src`;
  const to = roomOf(target);
  return to === undefined ? refusePorch(room, target) : refuseRoom(room, to);
}
