import { writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import { bytesText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';

/** `reprise export`. */
export const exportRun: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'what: session[/branch][@at]' }],
  options: [
    new Option('--format <format>', 'in which format').choices(['shipit']).makeOptionMandatory(),
    new Option('--to <file>', 'where to; stdout if left out'),
  ],
  examples: ['reprise export demo --format shipit', 'reprise export demo/careful@20 --format shipit --to careful.json'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const { format, to } = options as { readonly format: string; readonly to?: string };
    const { ref } = await context.at(text);
    const written = await (await context.open()).export(refText(ref), { format });
    if (to !== undefined) writeFile(to, written);
    const bytes = Buffer.byteLength(written);
    if (out.json !== undefined)
      await out.value({ ref: refText(ref), format, to: to ?? null, bytes, text: to === undefined ? written : null });
    else if (to === undefined) await out.write(written);
    else out.say(`Wrote ${plain(to)}, ${bytesText(bytes)}.`);
    return done;
  },
};

function writeFile(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new RepriseError('store.failed', `Cannot write ${JSON.stringify(path)}: ${(error as Error).message}`, {
      hint: 'Name a file in a folder that can be written.',
      cause: error,
    });
  }
}
