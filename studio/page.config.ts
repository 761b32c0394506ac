import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The modules that change something, and what stands in for each: an exported page cannot be changed. */
const changing: Readonly<Record<string, string>> = {
  '/fork-drawer.tsx': 'export const ForkDrawer = () => null;',
  '/import-file.ts': 'export const importFile = undefined;',
};

/** Leaves out the drawer that forks, with its editor, and the formats of imports. */
const withoutChanges: Plugin = {
  name: 'without-changes',
  enforce: 'pre',
  resolveId: (id) => {
    const name = Object.keys(changing).find((ending) => id.endsWith(ending));
    return name === undefined ? undefined : `\0${name}`;
  },
  load: (id) => (id.startsWith('\0') ? changing[id.slice(1)] : undefined),
};

/** Builds the app of exported pages: one script and one sheet, which `reprise export --format html` puts into its file. */
export default defineConfig({
  root: here('.'),
  base: './',
  publicDir: false,
  plugins: [withoutChanges, react()],
  build: {
    outDir: here('../dist/studio-page'),
    emptyOutDir: true,
    target: 'es2023',
    // The sheets use light-dark() and color-mix(), which these browsers know.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 3_000,
    rolldownOptions: {
      input: here('page.html'),
      output: { codeSplitting: false, entryFileNames: 'page.js', assetFileNames: 'page[extname]' },
    },
  },
});
