import { writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import type { ExportPreview } from '../../reading/export-rules.ts';
import { bytesText, plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { flagOption, type OptionValues, textOption } from '../option-values.ts';

/** An exported history, as `reprise export --json` prints it. */
export interface ExportAnswer {
  readonly ref: string;
  readonly format: string;
  /** The file; null if the text was printed. */
  readonly to: string | null;
  readonly bytes: number;
  /** The exported text; null if it was written to a file. */
  readonly text: string | null;
  /** Only of a page: the payloads that were left out, or would be; at most 200 of them. */
  readonly leftOut?: ExportPreview['leftOut'];
}

/** `reprise export`. */
export const exportRun: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'history: session[/branch][@at]' }],
  options: [
    new Option('--format <format>', 'format to write; html is a page that opens without a server')
      .choices(['shipit', 'html'])
      .makeOptionMandatory(),
    new Option('--to <file>', 'file to write (default: stdout; html needs a file)'),
    new Option(
      '--redact <rules>',
      'of a page: leave out payloads: all, an event type, agent:NAME, tool:NAME, field:PATH, pattern:REGEX, text:WORDS; commas between',
    ),
    new Option('--dry-run', 'write nothing, and list the payloads that would be left out (html)'),
  ],
  examples: [
    'reprise export demo --format shipit',
    'reprise export demo/careful@20 --format shipit --to careful.json',
    'reprise export demo --format html --redact tool:refund --dry-run',
  ],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const format = textOption(options, 'format') ?? '';
    if (format === 'html') return exportPage(context, text, options);
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

/** Writes a page, and says first what it leaves out. */
async function exportPage(context: Context, text: string, options: OptionValues): Promise<number> {
  const { out } = context;
  const to = textOption(options, 'to');
  const isDry = flagOption(options, 'dryRun');
  if (to === undefined && !isDry)
    throw new RepriseError('option.invalid', 'Cannot print a page: it is one large file', { hint: 'Add --to FILE.' });
  const { preparePage, rulesIn } = await import('../running/page-export.ts');
  const rules = textOption(options, 'redact');
  const page = await preparePage(context, text, rules === undefined ? [] : rulesIn(rules));
  const { ref, events, leftOut, total } = page.preview;
  if (out.json === undefined) out.say(leftOutText(page.preview));
  const written = isDry || to === undefined ? undefined : page.text();
  if (written !== undefined && to !== undefined) writeFile(to, written);
  const bytes = written === undefined ? 0 : Buffer.byteLength(written);
  const answer: ExportAnswer = { ref, format: 'html', to: isDry ? null : (to ?? null), bytes, text: null, leftOut };
  if (out.json !== undefined) await out.value(answer);
  else if (isDry)
    await out.lines(leftOut.map(({ branch, seq, type, rule }) => plain(`${branch}@${seq}  ${type}  ${rule}`)));
  else out.say(`Wrote ${plain(to ?? '')}, ${bytesText(bytes)}: ${plural(events, 'event')}, ${total} left out.`);
  return done;
}

function leftOutText({
  rules,
  total,
}: {
  readonly rules: Readonly<Record<string, number>>;
  readonly total: number;
}): string {
  if (total === 0) return 'Leaves out nothing.';
  const each = Object.entries(rules).map(([rule, count]) => `${count} by ${plain(rule)}`);
  return `Leaves out ${plural(total, 'payload')}: ${each.join(', ')}.`;
}
