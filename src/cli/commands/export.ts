import { writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import { bytesText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { textOption } from '../option-values.ts';

/** An exported history, as `reprise export --json` prints it. */
export interface ExportAnswer {
  readonly ref: string;
  readonly format: string;
  /** The file; null if the text was printed. */
  readonly to: string | null;
  readonly bytes: number;
  /** The exported text; null if it was written to a file. */
  readonly text: string | null;
}

/** `reprise export`. */
export const exportRun: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'history: session[/branch][@at]' }],
  options: [
    new Option('--format <format>', 'format to write').choices(['shipit']).makeOptionMandatory(),
    new Option('--to <file>', 'file to write (default: stdout)'),
  ],
  examples: ['reprise export demo --format shipit', 'reprise export demo/careful@20 --format shipit --to careful.json'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const format = textOption(options, 'format') ?? '';
    const to = textOption(options, 'to') ?? null;
    const ref = refText((await context.at(text)).ref);
    const written = await (await context.open()).export(ref, { format });
    if (to !== null) writeFile(to, written);
    const bytes = Buffer.byteLength(written);
    const answer: ExportAnswer = { ref, format, to, bytes, text: to === null ? written : null };
    if (out.json !== undefined) await out.value(answer);
    else if (to === null) await out.jsonFile(written);
    else out.say(`Wrote ${plain(to)}, ${bytesText(bytes)}.`);
    return done;
  },
};

function writeFile(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new RepriseError('store.failed', `Cannot write ${JSON.stringify(path)}: ${(error as Error).message}`, {
      hint: 'Choose a file in a writable directory.',
      cause: error,
    });
  }
}
