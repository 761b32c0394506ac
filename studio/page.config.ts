import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds the app of exported pages: one script and one sheet, which `reprise export --format html` puts into its file. */
export default defineConfig({
  root: here('.'),
  publicDir: false,
  plugins: [react()],
  build: {
    outDir: here('../dist/studio-page'),
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 3_000,
    rolldownOptions: {
      input: here('src/page/main.tsx'),
      output: {
        format: 'iife',
        codeSplitting: false,
        entryFileNames: 'page.js',
        assetFileNames: 'page[extname]',
      },
    },
  },
});
