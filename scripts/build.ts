/** Makes `dist` from nothing: a deleted source file leaves nothing behind in the package. */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleCode, bundleDeclarations } from './bundle.ts';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

rmSync(dist, { recursive: true, force: true });
await bundleCode({ folder: dist });
await bundleDeclarations(dist);
