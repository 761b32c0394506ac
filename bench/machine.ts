import { cpus, loadavg, totalmem } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { bytes } from './measure.ts';

/** The machine that the figures were taken on. */
export function machine(): Readonly<Record<string, string>> {
  const database = new DatabaseSync(':memory:');
  const sqlite = database.prepare('SELECT sqlite_version() AS version').get();
  database.close();
  const cores = cpus();
  return {
    cores: String(cores.length),
    processor: cores[0]?.model.trim() ?? 'unknown',
    memory: bytes(totalmem()),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    sqlite: String(sqlite?.['version']),
  };
}

/** How busy the machine was in the last minute: 0 is idle, the number of cores is fully used. */
export const load = (): string => (loadavg()[0] ?? 0).toFixed(1);
