import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Where a command writes: data to stdout, everything that is said about it to stderr. */
export class Output {
  readonly columns: number;
  readonly isTerminal: boolean;
  /** `lines` is one object a line, `object` one for everything; undefined is text for a person. */
  readonly json: 'lines' | 'object' | undefined;
  /** A command as this person can type it. */
  readonly #typed: (command: string) => string;
  #blocked: Promise<void> | undefined;

  constructor(json: 'lines' | 'object' | undefined, typed: (command: string) => string = (command) => command) {
    this.json = json;
    this.#typed = typed;
    this.isTerminal = process.stdout.isTTY === true;
    this.columns = Math.max(20, Number(process.env['COLUMNS']) || process.stdout.columns || 100);
  }

  /** Writes one line of data, and waits when the reader is slower than we are. */
  async line(text = ''): Promise<void> {
    if (process.stdout.write(`${text}\n`)) return;
    this.#blocked ??= new Promise((resolve) => {
      process.stdout.once('drain', () => {
        this.#blocked = undefined;
        resolve();
      });
    });
    await this.#blocked;
  }

  async lines(lines: Iterable<string>): Promise<void> {
    for (const line of lines) await this.line(line);
  }

  /** Writes one JSON value on a line of its own. */
  async value(value: unknown): Promise<void> {
    await this.line(JSON.stringify(value));
  }

  /** Says something about the data to the person at the terminal; silent in JSON. */
  say(text = ''): void {
    if (this.json === undefined) process.stderr.write(`${text}\n`);
  }

  /** What to type next. */
  next(...commands: readonly string[]): void {
    for (const [index, command] of commands.entries()) this.say(`${this.dim(index === 0 ? 'next:' : '     ')} ${this.dim(this.#typed(command))}`);
  }

  style(style: Style, text: string): string {
    return styleText(style, text, { stream: process.stdout, validateStream: true });
  }

  dim(text: string): string {
    return this.style('dim', text);
  }

  bold(text: string): string {
    return this.style('bold', text);
  }
}
