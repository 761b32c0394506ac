/** Which module goes into which file of a bundle. */
import { relative } from 'node:path';
import type { OutputOptions, Plugin } from 'rolldown';

/** A module as the bundler read it. */
interface ReadModule {
  /** The modules that it needs at once. */
  readonly imports: readonly string[];
  /** The modules that it loads later, with `import()`. */
  readonly loads: readonly string[];
  readonly isEntry: boolean;
}

/** A part of a program that is loaded at one time, and the modules that begin it, as a pattern of their paths. */
export interface Part {
  readonly name: string;
  readonly begins: RegExp;
  /** False if the modules that begin it share a file, instead of having one each with what nothing else needs. */
  readonly isApart?: false;
  /** Whether what several of them need, and no other part, is divided once more by who needs it. */
  readonly isDivided?: boolean;
}

/** Splits a bundle by its parts: a plugin that keeps what the bundler reads, and the setting that uses it. */
export function splitByParts(
  root: string,
  parts: readonly Part[],
): { readonly plugin: Plugin; readonly codeSplitting: NonNullable<OutputOptions['codeSplitting']> } {
  const modules = new Map<string, ReadModule>();
  let names: ReadonlyMap<string, string> | undefined;
  const pathOf = (id: string): string => relative(root, id).replaceAll('\\', '/');
  const plugin: Plugin = {
    name: 'parts',
    moduleParsed: ({ id, importedIds, dynamicallyImportedIds, isEntry }) => {
      modules.set(pathOf(id), { imports: importedIds.map(pathOf), loads: dynamicallyImportedIds.map(pathOf), isEntry });
    },
  };
  const name = (id: string): string | undefined => (names ??= chunkNames(modules, parts)).get(pathOf(id));
  return { plugin, codeSplitting: { groups: [{ debugName: 'parts', name, includeDependenciesRecursively: false }] } };
}

/**
 * Returns the name of the file that each module goes into; a module without a name goes where the bundler puts it, with
 * the only one that needs it. Modules that the same parts need go together, so a part loads few files and nothing that
 * it does not need. A part that needs a module needs its imports too, so no two files can import each other.
 */
function chunkNames(read: ReadonlyMap<string, ReadModule>, parts: readonly Part[]): ReadonlyMap<string, string> {
  // The bundler reads in any order; the names must be the same in every build.
  const modules = new Map([...read].toSorted(([left], [right]) => (left < right ? -1 : 1)));
  const needs = neededBy(modules);
  const isApart = (root: string): boolean => parts.find(({ begins }) => begins.test(root))?.isApart !== false;
  const shared = [...needs].filter(([, roots]) => roots.size > 1 || ![...roots].every(isApart));
  const chunks = Map.groupBy(shared, ([, roots]) => keyOf(roots, parts));
  const names = new Map<string, string>();
  const taken = new Map<string, number>();
  for (const [key, held] of chunks) {
    const base = parts.some(({ name }) => name === key) ? key : roomOfMost(held.map(([id]) => id));
    const number = (taken.get(base) ?? 0) + 1;
    taken.set(base, number);
    for (const [id] of held) names.set(id, number === 1 ? base : `${base}-${number}`);
  }
  return names;
}

/** Returns for each module the roots that need it: entries, and modules that are loaded later. */
function neededBy(modules: ReadonlyMap<string, ReadModule>): ReadonlyMap<string, ReadonlySet<string>> {
  const loaded = [...modules.values()].flatMap(({ loads }) => loads);
  const entries = [...modules].filter(([, { isEntry }]) => isEntry).map(([id]) => id);
  const needs = new Map([...modules.keys()].map((id) => [id, new Set<string>()]));
  for (const root of new Set([...entries, ...loaded])) {
    const open = [root];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const roots = needs.get(id);
      if (roots === undefined || roots.has(root)) continue;
      roots.add(root);
      open.push(...(modules.get(id)?.imports ?? []));
    }
  }
  return needs;
}

/** Names what the modules of one file have in common: the parts that need them, or else the roots. */
function keyOf(roots: ReadonlySet<string>, parts: readonly Part[]): string {
  const needing = parts.filter(({ begins }) => [...roots].some((root) => begins.test(root)));
  const isShared = needing.some(({ isDivided }) => isDivided !== true);
  return [...needing.map(({ name }) => name), ...(isShared ? [] : [...roots].toSorted())].join(' ');
}

/** Returns the room that most of these modules are in. */
function roomOfMost(ids: readonly string[]): string {
  const rooms = Map.groupBy(
    ids,
    (id) => /^(?:src\/(?:store\/|adapters\/)?|studio\/src\/)([\w-]+)\//.exec(id)?.[1] ?? 'shared',
  );
  const [[most] = ['shared']] = [...rooms].toSorted(([, left], [, right]) => right.length - left.length);
  return most;
}
