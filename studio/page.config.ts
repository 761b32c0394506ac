import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Leaves out the drawer that forks, and its editor: an exported page cannot be changed. */
const withoutForking: Plugin = {
  name: 'without-forking',
  enforce: 'pre',
  resolveId: (id) => (id.endsWith('/fork-drawer.tsx') ? '\0no-drawer' : undefined),
  load: (id) => (id === '\0no-drawer' ? 'export const ForkDrawer = () => null;' : undefined),
};

/** Builds the app of exported pages: one script and one sheet, which `reprise export --format html` puts into its file. */
export default defineConfig({
  root: here('.'),
  base: './',
  publicDir: false,
  plugins: [withoutForking, react()],
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
