import type { Migration } from './migrate.ts';
import { migration010 } from './migrations/0-1-0.ts';

/** The schema's migrations by release; a new store goes through all of them. The list only grows. */
export const migrations: readonly Migration[] = [migration010];
