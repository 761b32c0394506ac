import { styleText } from 'node:util';
import { jsonText } from './json-text.ts';
import { Progress } from './progress.ts';

/** How text is set off: a colour, or several at once. */
export type Style = Parameters<typeof styleText>[0];

const flushChars = 32_768;
const columnsMin = 20;
const columnsOfPipe = 100;

/** Where a command writes: data to stdout, everything that is said about it to stderr. */
export class Output {
  readonly columns: number;
  /** How wide a table may be: nobody's screen cuts what goes into a file or another program. */
  readonly tableColumns: number;
  /** Whether colours are wanted: by a terminal, unless NO_COLOR is set. */
  readonly hasColour: boolean;
  /** `lines` is one object a line, `object` one for everything; undefined is text for a person. */
  readonly json: 'lines' | 'object' | undefined;
  /** What is shown of something that takes long. */
  readonly progress: Progress = new Progress(process.stderr);
  /** A command as this person can type it. */
  readonly #typed: (command: string) => string;
  #pending = '';
  #isScheduled = false;

  constructor(json: 'lines' | 'object' | undefined, typed: (command: string) => string = (command) => command) {
    this.json = json;
    this.#typed = typed;
    this.hasColour = styleText('bold', 'x', { stream: process.stdout, validateStream: true }) !== 'x';
    const known = Number(process.env['COLUMNS']) || process.stdout.columns;
    this.columns = Math.max(columnsMin, known || columnsOfPipe);
    this.tableColumns = known ? this.columns : Number.POSITIVE_INFINITY;
  }

  /** Writes text as it is. What is written together goes out together, at the latest when the event loop turns. */
  async write(text: string): Promise<void> {
    this.#pending += text;
    if (this.#pending.length >= flushChars) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  /**
   * Sends what is waiting. Waits when the reader is slower than we are, and lets the event loop turn in any case: reading
   * a store never does, and a reader who has gone away must be noticed.
   */
  async flush(): Promise<void> {
    const isTaken = this.#send();
    await new Promise<void>((resolve) => {
      if (isTaken) setImmediate(resolve);
      else process.stdout.once('drain', resolve);
    });
  }

  #send(): boolean {
    if (this.#pending === '') return true;
    this.progress.clear();
    const text = this.#pending;
    this.#pending = '';
    return process.stdout.write(text);
  }

  /** Writes one line of data. */
  line(text = ''): Promise<void> {
    return this.write(`${text}\n`);
  }

  async lines(lines: Iterable<string>): Promise<void> {
    for (const line of lines) await this.line(line);
  }

  /** Writes one JSON value on a line of its own. */
  value(value: unknown): Promise<void> {
    return this.line(process.stdout.isTTY === true ? jsonText(value) : JSON.stringify(value));
  }

  /** Says something about the data to the person at the terminal; silent in JSON. */
  say(text = ''): void {
    if (this.json !== undefined) return;
    this.#send();
    this.progress.clear();
    process.stderr.write(`${text}\n`);
  }

  /** What to type next. */
  next(...commands: readonly string[]): void {
    for (const [index, command] of commands.entries()) {
      this.say(`${this.dim(index === 0 ? 'next:' : '     ')} ${this.dim(this.#typed(command))}`);
    }
  }

  style(style: Style, text: string): string {
    return this.hasColour && text !== '' ? styleText(style, text, { validateStream: false }) : text;
  }

  dim(text: string): string {
    return this.style('dim', text);
  }

  bold(text: string): string {
    return this.style('bold', text);
  }
}
