import type { Migration } from './migrate.ts';
import { migration010 } from './migrations/0-1-0.ts';

/** Marks a SQLite file as a Reprise store: "Rprs". */
export const applicationId = 0x52707273;

/** How the schema grew, release by release; a new file takes the same way. Only ever added to. */
export const migrations: readonly Migration[] = [migration010];
