import { importsOf } from '../imports.ts';
import { productFiles } from '../syntax.ts';
import type { Problem, Rule } from '../tree.ts';

/**
 * The one knot that is allowed, by types alone: a look forks a branch, and a branch is a look. Its value is imported
 * later (docs/decisions/0057-handles.md).
 */
const handles = 'src/engine/branch.ts, src/engine/look.ts';

/** No file imports itself through others, types included. An import that runs later, `import()`, does not count. */
export const rule: Rule = (tree) => {
  const files = productFiles(tree);
  const graph = new Map(
    files.map((file) => [file.path, importsOf(file).flatMap(({ target, isLater }) => (isLater ? [] : (target ?? [])))]),
  );
  return knotsOf(graph)
    .filter((knot) => knot.join(', ') !== handles)
    .map(problemOf);
};

function problemOf(knot: readonly string[]): Problem {
  const file = knot[0] ?? '';
  return { file, message: `is in an import cycle: ${knot.join(', ')}` };
}

/** Returns the groups of files that reach each other, by Tarjan's algorithm. */
function knotsOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const places = new Map<string, { index: number; low: number; isOpen: boolean }>();
  const open: string[] = [];
  const knots: string[][] = [];
  const visit = (file: string): { index: number; low: number; isOpen: boolean } => {
    const place = { index: places.size, low: places.size, isOpen: true };
    places.set(file, place);
    open.push(file);
    for (const target of graph.get(file) ?? []) {
      if (target === file) knots.push([file]);
      if (!graph.has(target)) continue;
      const seen = places.get(target) ?? visit(target);
      if (seen.isOpen) place.low = Math.min(place.low, seen.low);
    }
    if (place.low === place.index) {
      const knot = open.splice(open.indexOf(file));
      for (const each of knot) Object.assign(places.get(each) ?? {}, { isOpen: false });
      if (knot.length > 1) knots.push(knot.toSorted());
    }
    return place;
  };
  for (const file of graph.keys()) if (!places.has(file)) visit(file);
  return knots;
}
