/** The `@example`s of everything public, as programs: one a source file, each example with a world of its own. */
import { join } from 'node:path';
import { doors } from '../../scripts/doors.ts';
import { type Entry, type Example, publicSurface } from '../../scripts/public-surface.ts';

/** The examples of one source file as a program whose lines have the numbers they have in the source. */
export interface ExampleProgram {
  readonly file: string;
  readonly text: string;
}

/** Every name that can be called or folded, and every verb, with its example if it has one. */
export function examples(root: string): { readonly file: string; readonly name: string; readonly example?: Example }[] {
  return Object.values(doors)
    .flatMap(({ file }) => publicSurface(root, file))
    .flatMap((entry) => {
      if (entry.kind === 'type') return [];
      const verbs = entry.kind === 'class' && entry.name !== 'RepriseError' ? verbsOf(entry) : [];
      // A class with an example of its own has it run beside those of its verbs.
      return verbs.length > 0 && entry.example === undefined
        ? verbs
        : [...verbs, { file: entry.file, name: entry.name, ...(entry.example && { example: entry.example }) }];
    });
}

function verbsOf(entry: Entry): { readonly file: string; readonly name: string; readonly example?: Example }[] {
  return entry.members
    .filter((member) => member.parameters !== undefined)
    .map((member) => ({
      file: member.example?.file ?? entry.file,
      name: `${entry.name}.${member.name}`,
      ...(member.example && { example: member.example }),
    }));
}

/** One program a source file. In it, `reprise`, `session` and `branch` are there, and what it can export is imported. */
export function examplePrograms(root: string): ExampleProgram[] {
  const world = `import { inWorld } from ${JSON.stringify(join(root, 'test/docs/example-world.ts'))};`;
  const byFile = Map.groupBy(
    examples(root).filter(({ example }) => example !== undefined),
    ({ file }) => file,
  );
  return [...byFile].map(([file, held]) => {
    const lines = [[...exportImports(root, file), world, ...moreImports(root, file)].join(' ')];
    for (const { example } of held.toSorted((a, b) => firstLine(a) - firstLine(b))) {
      if (example === undefined) continue;
      while (lines.length < example.firstLine - 2) lines.push('');
      // Twice a block, so that an example may give its own things the names of those it is handed.
      lines.push('await inWorld(async ({ reprise, session, branch }) => {{', ...example.code.split('\n'), '}});');
    }
    return { file, text: `${lines.join('\n')}\n` };
  });
}

/**
 * Returns imports of every export of the package. Adapters give the same names to the same things, so each sees only its
 * own door, and its names before those of the main door. `reprise/store` repeats some names of the main door: the first
 * door that has a name provides it.
 */
function exportImports(root: string, file: string): string[] {
  const imported = new Set<string>();
  const ownFirst = Object.entries(doors).toSorted(
    ([, a], [, b]) => Number(a.imports === undefined) - Number(b.imports === undefined),
  );
  return ownFirst.flatMap(([specifier, door]) => {
    const surface = publicSurface(root, door.file);
    if (door.imports !== undefined && !surface.some((entry) => entry.file === file)) return [];
    const names = surface
      .filter(({ name }) => !imported.has(name))
      .map((entry) => (entry.kind === 'type' || entry.isTypeOnly ? `type ${entry.name}` : entry.name));
    for (const { name } of surface) imported.add(name);
    return [`import { ${names.join(', ')} } from '${specifier}';`];
  });
}

/** Imports that the examples of a file find, besides what the package exports. */
function moreImports(root: string, file: string): string[] {
  const door = Object.values(doors).find(
    (each) => each.imports !== undefined && publicSurface(root, each.file).some((entry) => entry.file === file),
  );
  return (door?.imports ?? []).map((line) => line.replace('{root}', root));
}

const firstLine = ({ example }: { readonly example?: Example }): number => example?.firstLine ?? 0;
