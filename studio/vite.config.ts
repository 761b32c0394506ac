import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { type Part, splitByParts } from '../scripts/bundle-chunks.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The parts of the studio that share modules: its page, its screens, and the import of a file, with the engine. */
const parts: readonly Part[] = [
  { name: 'page', begins: /^studio\/index\.html$/ },
  { name: 'screens', begins: /^studio\/src\/(?!fork\/|source\/)/ },
  { name: 'engine', begins: /^src\/engine\/|import-file/, isApart: false },
];
const { plugin, codeSplitting } = splitByParts(here('..'), parts);

/** Builds the studio into the package. */
export default defineConfig({
  root: here('.'),
  plugins: [react(), plugin],
  // A format of saved runs hashes what it reads.
  resolve: { alias: { 'node:crypto': here('src/source/browser-crypto.ts') } },
  build: {
    outDir: here('../dist/studio'),
    emptyOutDir: true,
    target: 'es2023',
    // The sheets use light-dark() and color-mix(), which these browsers know.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // A strict policy lets nothing in that stands in the page itself.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    chunkSizeWarningLimit: 800,
    // The engine loads its verbs when they are first used; here they come together, with the import of a file.
    rolldownOptions: { output: { codeSplitting }, checks: { ineffectiveDynamicImport: false } },
  },
  worker: { format: 'es' },
});
