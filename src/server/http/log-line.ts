/** One line of the log: names and figures, never a payload. */
export interface LogLine {
  readonly level: 'info' | 'error';
  readonly message: string;
  readonly request?: string;
  readonly call?: string;
  readonly token?: string;
  readonly code?: string;
  readonly ms?: number;
  readonly error?: string;
}

/** Takes lines of the log. */
export type WriteLog = (line: LogLine) => void;
