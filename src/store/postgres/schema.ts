import type { Migration } from './migrate.ts';
import { migration010 } from './migrations/0-1-0.ts';

/** How the schema grew, release by release; a new store takes the same way. Only ever added to. */
export const migrations: readonly Migration[] = [migration010];
