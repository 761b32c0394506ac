import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { limits } from '../../core/limits.ts';
import { writeAnswer } from '../terminal/stdout.ts';

/** A command that has ended. */
export interface EndedCommand {
  /** The exit code; null if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The exit code as a shell gives it: 128 and the number of the signal, 127 for a command that does not exist. */
  readonly shellCode: number;
  /** Everything it wrote to stdout; undefined if that is more than a report may have. */
  readonly stdout: string | undefined;
  /** The end of everything it wrote. */
  readonly tail: string;
  /** Why it could not be started. */
  readonly failure: string | undefined;
}

const tailMax = 65_536;
const notFound = 127;
const notRunnable = 126;
const signalBase = 128;
/** Tests print less than this; more text is not searched for results. */
const stdoutMax: number = Math.min(limits.reportTextMax, 33_554_432);
const passedOn: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Runs a command with its input and output passed through, and keeps what it wrote. */
export function runCommandThrough([name = '', ...words]: readonly string[]): Promise<EndedCommand> {
  return new Promise((resolve) => {
    const child = spawn(name, words, { stdio: ['inherit', 'pipe', 'pipe'] });
    const kept = keptText();
    child.stdout.on('data', (piece: Buffer) => {
      writeAnswer(piece);
      kept.add(piece, true);
    });
    child.stderr.on('data', (piece: Buffer) => {
      process.stderr.write(piece);
      kept.add(piece, false);
    });
    // A signal of the terminal reaches the child as well; this process stays to record how it ended.
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
    for (const signal of passedOn) process.on(signal, pass);
    const end = (ended: Omit<EndedCommand, 'stdout' | 'tail'>): void => {
      for (const signal of passedOn) process.off(signal, pass);
      resolve({ ...ended, ...kept.texts() });
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      const shellCode = error.code === 'ENOENT' ? notFound : notRunnable;
      end({ exitCode: shellCode, signal: null, shellCode, failure: error.message });
    });
    child.on('close', (exitCode, signal) => {
      const shellCode = exitCode ?? signalBase + (signal === null ? 0 : constants.signals[signal]);
      end({ exitCode, signal, shellCode, failure: undefined });
    });
  });
}

/** Gathers the output of a command, up to a size. */
function keptText() {
  const stdout: Buffer[] = [];
  let [bytes, tail] = [0, Buffer.alloc(0)];
  return {
    add: (piece: Buffer, isStdout: boolean): void => {
      tail = Buffer.concat([tail, piece]).subarray(-tailMax);
      if (!isStdout) return;
      bytes += piece.length;
      if (bytes <= stdoutMax) stdout.push(piece);
      else stdout.length = 0;
    },
    texts: (): Pick<EndedCommand, 'stdout' | 'tail'> => ({
      stdout: bytes > stdoutMax ? undefined : Buffer.concat(stdout).toString('utf8'),
      tail: tail.toString('utf8'),
    }),
  };
}
