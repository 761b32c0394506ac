/** Removes what the build made. Without it, a deleted source file would stay in the package as a stale output. */
import { rmSync } from 'node:fs';

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true });
