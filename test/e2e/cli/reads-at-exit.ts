/**
 * Loaded before a command (`--import`): writes to a file how many rows of the store the process had read when it first
 * printed something, and when it ended. It can send itself a signal at a row, so that no test has to hit the moment.
 */
import { writeFileSync } from 'node:fs';
import { SqliteReads } from '../../sqlite-reads.ts';

const { READS_FILE: file = '', READS_SIGNAL: signalAt = '' } = process.env;

let isSent = false;
const reads = new SqliteReads(({ rows }) => {
  if (isSent || signalAt === '' || rows < Number(signalAt)) return;
  isSent = true;
  process.kill(process.pid, 'SIGINT');
});

let rowsAtFirst: number | undefined;
const write = process.stdout.write.bind(process.stdout) as (...values: unknown[]) => boolean;
Object.assign(process.stdout, {
  write: (...values: unknown[]): boolean => {
    rowsAtFirst ??= reads.rows;
    return write(...values);
  },
});
process.on('exit', () => writeFileSync(file, JSON.stringify({ rowsAtFirst: rowsAtFirst ?? null, rows: reads.rows })));
