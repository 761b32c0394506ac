/** The notes of the processes of a soak, one line each: written and read. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** An event as the store acknowledged it to a writer, or as a follower saw it. */
export interface Told {
  /** The session and the branch, as a ref. */
  readonly place: string;
  readonly seq: number;
  readonly id: string;
  readonly digest: string;
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** How long the append took. */
  readonly ms: number;
}

/** Writes one line, at once: it survives whatever happens to the process. */
export function writeTold(path: string, { place, seq, id, digest, at, ms }: Told): void {
  appendFileSync(path, `${place} ${seq} ${id} ${digest} ${at} ${ms}\n`);
}

/** Notes that an append or a tail ended with an error and is tried again. */
export function writeError(path: string, code: string): void {
  appendFileSync(path, `error ${code}\n`);
}

/** Reads the notes of a process; a last line that was cut off does not count. */
export function readTold(path: string): { readonly told: Told[]; readonly errors: string[] } {
  const told: Told[] = [];
  const errors: string[] = [];
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []) {
    const [place = '', seq = '', id = '', digest = '', at = '', ms = ''] = line.split(' ');
    if (place === 'error') errors.push(seq);
    else told.push({ place, seq: Number(seq), id, digest, at: Number(at), ms: Number(ms) });
  }
  return { told, errors };
}
