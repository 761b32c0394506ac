/** Bundles the doors of the package and the command line, with their declarations. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type InputOptions, type OutputOptions, type Plugin, rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { type Part, splitByParts } from './bundle-chunks.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = fileURLToPath(new URL('../src/', import.meta.url));

const { version, exports, dependencies, peerDependencies } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as {
  readonly version: string;
  readonly exports: Readonly<Record<string, { readonly types?: string }>>;
  readonly dependencies: object;
  readonly peerDependencies: object;
};

const doors = Object.values(exports).flatMap(({ types }) => /^\.\/dist\/(.+)\.d\.ts$/.exec(types ?? '')?.[1] ?? []);
const packages = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];

/** Files that do something when they are loaded; all others only declare. */
const acting = /[\\/]src[\\/](?:cli[\\/](?:bin|program)|store[\\/]sqlite[\\/]examination-worker)\.ts$/;

const input: InputOptions = {
  cwd: root,
  platform: 'node',
  preserveEntrySignatures: 'allow-extension',
  external: (id) => id.startsWith('node:') || packages.some((name) => id === name || id.startsWith(`${name}/`)),
  // A busy machine makes plugins slow.
  checks: { bundlerTimings: false, ineffectiveDynamicImport: false },
  treeshake: { moduleSideEffects: (id) => acting.test(id) },
};
const output: OutputOptions = {
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
};
const entries = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `${source}${name}.ts`]));

/** Files that the source names by their URL: they become entries, and the bundle names them where they then are. */
const namedByUrl: Plugin = {
  name: 'named-by-url',
  transform: {
    filter: { code: 'import.meta.url' },
    handler(code, importer) {
      const named = code.replaceAll(/new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g, (_, id: string) => {
        const file = this.emitFile({ type: 'chunk', id, importer });
        return `new URL(import.meta.ROLLUP_FILE_URL_${file})`;
      });
      // No line moves, so the map stays as it is.
      return { code: named, map: null };
    },
  },
};

/** The parts of the library and the command line that share modules. Every other module that is loaded later is a part by itself. */
const parts: readonly Part[] = [
  { name: 'library', begins: /^src\/index\.ts$/ },
  {
    name: 'doors',
    begins: /^src\/(?:store|server|mcp|langgraph|gemini|anthropic|openai|openai-agents|ai-sdk)\.ts$/,
    isDivided: true,
  },
  { name: 'start', begins: /^src\/cli\/main\.ts$/, isDivided: true },
  { name: 'commands', begins: /^src\/cli\/(?:run-command|commands\/(?!import\.))/ },
  { name: 'formats', begins: /^src\/(?:adapters\/import\/|cli\/commands\/import\.)/ },
  { name: 'scripted', begins: /^src\/(?:testing|protocols|cli\/demo\/|cli\/running\/demo-story)/, isDivided: true },
  { name: 'verbs', begins: /^src\/engine\//, isApart: false },
  { name: 'server', begins: /^src\/(?:server\/|served-studio)/ },
];

/** Leaves out the source map of a file without code, which only passes names on. */
const mapsOfCode: Plugin = {
  name: 'maps-of-code',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk' || file.moduleIds.length > 0 || file.sourcemapFileName === null) continue;
      delete bundle[file.sourcemapFileName];
      file.code = file.code.replace(/\n\/\/# sourceMappingURL=.*\n*$/, '\n');
    }
  },
};

/** Where the code goes, and whether each module stays a file: the benchmark compares the two. */
interface CodeOptions {
  readonly folder: string;
  readonly isSplit?: boolean;
}

/** Bundles the doors and the command line; or only compiles them, a file for each module. */
export async function bundleCode({ folder, isSplit = false }: CodeOptions): Promise<void> {
  const { plugin, codeSplitting } = splitByParts(root, parts);
  await using build = await rolldown({
    ...input,
    input: entries([...doors, 'cli/bin']),
    plugins: [namedByUrl, plugin, mapsOfCode],
    transform: { target: 'es2024', define: { builtRelease: JSON.stringify(version) } },
  });
  await build.write({
    ...output,
    dir: folder,
    sourcemap: true,
    sourcemapExcludeSources: true,
    comments: false,
    ...(isSplit ? { preserveModules: true, preserveModulesRoot: source } : { codeSplitting }),
  });
}

/** Bundles the declarations of the doors, which the source states in full. */
export async function bundleDeclarations(folder: string): Promise<void> {
  await using build = await rolldown({
    ...input,
    input: entries(doors),
    plugins: [dts({ cwd: root, tsconfig: false, oxc: true, emitDtsOnly: true })],
  });
  await build.write({ ...output, dir: folder });
}
