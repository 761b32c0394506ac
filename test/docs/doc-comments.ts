/** The `@example`s of everything public, as programs: one a source file, each example with a world of its own. */
import { join } from 'node:path';
import { type Entry, type Example, publicSurface } from '../../scripts/public-surface.ts';

/** The examples of one source file as a program whose lines have the numbers they have in the source. */
export interface ExampleProgram {
  readonly file: string;
  readonly text: string;
}

/** The doors of the package, by the name they are imported under. */
export const doors: Readonly<Record<string, string>> = {
  reprise: 'src/index.ts',
  'reprise/testing': 'src/testing.ts',
  'reprise/openai-agents': 'src/openai-agents.ts',
  'reprise/mcp': 'src/mcp.ts',
};

/** Two adapters may have equal names for what is alike: an example sees only the door of its own. */
function isDoorOf(specifier: string, file: string): boolean {
  const adapter = /^src\/adapters\/([^/]+)\//.exec(file)?.[1];
  return specifier === 'reprise' || specifier === 'reprise/testing' || specifier === `reprise/${adapter}`;
}

/** Every name that can be called or folded, and every verb, with its example if it has one. */
export function examples(root: string): { readonly file: string; readonly name: string; readonly example?: Example }[] {
  return Object.values(doors)
    .flatMap((door) => publicSurface(root, door))
    .flatMap((entry) => {
      if (entry.kind === 'type') return [];
      const verbs = entry.kind === 'class' && entry.name !== 'RepriseError' ? verbsOf(entry) : [];
      return verbs.length > 0
        ? verbs
        : [{ file: entry.file, name: entry.name, ...(entry.example && { example: entry.example }) }];
    });
}

function verbsOf(entry: Entry): { readonly file: string; readonly name: string; readonly example?: Example }[] {
  return entry.members
    .filter((member) => member.parameters !== undefined)
    .map((member) => ({
      file: entry.file,
      name: `${entry.name}.${member.name}`,
      ...(member.example && { example: member.example }),
    }));
}

/** One program a source file. In it, `reprise`, `session` and `branch` are there, and every export is imported. */
export function examplePrograms(root: string): ExampleProgram[] {
  const imports = Object.entries(doors).map(([specifier, door]) => {
    const names = publicSurface(root, door).map((entry) => (entry.kind === 'type' ? `type ${entry.name}` : entry.name));
    return { specifier, text: `import { ${names.join(', ')} } from '${specifier}';` };
  });
  const world = `import { inWorld } from ${JSON.stringify(join(root, 'test/docs/example-world.ts'))};`;
  const byFile = Map.groupBy(
    examples(root).filter(({ example }) => example !== undefined),
    ({ file }) => file,
  );
  return [...byFile].map(([file, held]) => {
    const own = imports.filter(({ specifier }) => isDoorOf(specifier, file)).map(({ text }) => text);
    const lines = [[...own, world].join(' ')];
    for (const { example } of held.toSorted((a, b) => firstLine(a) - firstLine(b))) {
      if (example === undefined) continue;
      while (lines.length < example.firstLine - 2) lines.push('');
      // Twice a block, so that an example may give its own things the names of those it is handed.
      lines.push('await inWorld(async ({ reprise, session, branch }) => {{', ...example.code.split('\n'), '}});');
    }
    return { file, text: `${lines.join('\n')}\n` };
  });
}

const firstLine = ({ example }: { readonly example?: Example }): number => example?.firstLine ?? 0;
