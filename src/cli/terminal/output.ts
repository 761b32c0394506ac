import { styleText } from 'node:util';
import { fit, plain, plainLines, widthOf } from '../../wording/text.ts';
import { escapedJson, jsonText } from './json-text.ts';
import { Progress } from './progress.ts';
import { writeAnswer } from './stdout.ts';

/** The style of text: a color, or several styles at once. */
export type Style = Parameters<typeof styleText>[0];

const flushChars = 32_768;
const columnsMin = 20;
const columnsOfPipe = 100;

/** A style that we set or end, or a character that a terminal would obey. */
const styleOrControl =
  /(\u001b\[(?:[1-47]|2[2-47]|3[0-79]|9[0-7])m)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Makes control characters visible, except for line breaks, tabs and our own styles. Fields are made safe where they are
 * laid out; this catches the one that was forgotten.
 */
function withoutControls(text: string, hasColor: boolean): string {
  return text.replace(styleOrControl, (found, style: string | undefined) =>
    style !== undefined && hasColor ? style : plain(found),
  );
}

/** The output of a command: data goes to stdout, messages about it to stderr. */
export class Output {
  readonly columns: number;
  /** How wide a row may be; unlimited if the output goes to a file or a program, which may search it. */
  readonly tableColumns: number;
  /** Whether to use colors: on a terminal, unless NO_COLOR is set. */
  readonly hasColor: boolean;
  /** `lines` is one object per line, `object` a single object; undefined is text for people. */
  readonly json: 'lines' | 'object' | undefined;
  /** The progress line of work that takes long. */
  readonly progress: Progress = new Progress(process.stderr);
  /** Writes a command as the user can type it. */
  readonly #typed: (command: string) => string;
  #pending = '';
  #isScheduled = false;

  constructor(json: 'lines' | 'object' | undefined, typed: (command: string) => string = (command) => command) {
    this.json = json;
    this.#typed = typed;
    this.hasColor = styleText('bold', 'x', { stream: process.stdout, validateStream: true }) !== 'x';
    const known = Number(process.env['COLUMNS']) || process.stdout.columns;
    this.columns = Math.max(columnsMin, known || columnsOfPipe);
    this.tableColumns = known ? this.columns : Number.POSITIVE_INFINITY;
  }

  /** Writes text as it is. Text is buffered until the event loop turns. */
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
   * Sends the buffered text. Waits for a slow reader, and always lets the event loop turn: reading a store never does, and
   * a reader that went away must be noticed.
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
    return writeAnswer(text);
  }

  /** Writes bytes as they are, after everything before them. */
  async bytes(bytes: Uint8Array): Promise<void> {
    await this.flush();
    if (!writeAnswer(bytes)) await new Promise<void>((resolve) => void process.stdout.once('drain', () => resolve()));
  }

  /** Writes JSON text of a different system: as it is, but on a terminal without what that would obey. */
  jsonFile(text: string): Promise<void> {
    return this.write(process.stdout.isTTY === true ? escapedJson(text) : text);
  }

  /** Writes the text of a file: as it is, but on a terminal without what that would obey. */
  textFile(text: string): Promise<void> {
    return this.write(process.stdout.isTTY === true ? plainLines(text) : text);
  }

  /** Writes one line of data; control characters in it that are not our own styles become visible signs. */
  line(text = ''): Promise<void> {
    return this.write(`${this.json === undefined ? withoutControls(text, this.hasColor) : text}\n`);
  }

  async lines(lines: Iterable<string>): Promise<void> {
    for (const line of lines) await this.line(line);
  }

  /** Writes one JSON value on its own line. */
  value(value: unknown): Promise<void> {
    return this.line(this.jsonOf(value));
  }

  /** Writes a value as JSON; on a terminal, characters that it would obey are escaped. */
  jsonOf(value: unknown): string {
    return process.stdout.isTTY === true ? jsonText(value) : JSON.stringify(value);
  }

  /** Writes a message to stderr; does nothing in JSON. */
  say(text = ''): void {
    if (this.json !== undefined) return;
    this.#send();
    this.progress.clear();
    process.stderr.write(`${withoutControls(text, this.hasColor)}\n`);
  }

  /** Suggests what to type next. */
  next(...commands: readonly string[]): void {
    for (const [index, command] of commands.entries()) {
      this.say(`${this.dim(index === 0 ? 'next:' : '     ')} ${this.dim(this.#typed(command))}`);
    }
  }

  /** Returns text as a cell of that many columns; what does not fit is cut only where a row has a width. */
  cell(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
    return fit(text, Number.isFinite(this.tableColumns) ? columns : Math.max(columns, widthOf(text)), align);
  }

  style(style: Style, text: string): string {
    return this.hasColor && text !== '' ? styleText(style, text, { validateStream: false }) : text;
  }

  dim(text: string): string {
    return this.style('dim', text);
  }

  bold(text: string): string {
    return this.style('bold', text);
  }
}
