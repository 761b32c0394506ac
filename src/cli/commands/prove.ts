import { writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { messageOf, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { numberOption, textOption } from '../option-values.ts';
import { wholeNumber } from '../options/number-option.ts';

/** `reprise prove`. */
export const prove: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'event to prove: session[/branch]@seq; with --since, a branch or point' }],
  options: [
    new Option('--since <count>', 'prove that the history begins with its first so many events').argParser(wholeNumber),
    new Option('--no-payload', 'leave the payload out: show that the event is there, and not what it says'),
    new Option('--to <file>', 'file to write (default: stdout)'),
  ],
  examples: ['reprise prove demo@3', 'reprise prove demo@3 --to proof.json', 'reprise prove demo/careful --since 4'],
  run: async (context, [text = ''], options) => {
    const since = numberOption(options, 'since');
    const found = await (since === undefined ? context.point(text) : context.session(text));
    const proof = await found.session.at(found.point).prove({
      ...given({ since }),
      payload: options['payload'] !== false,
    });
    const to = textOption(options, 'to');
    const { out } = context;
    if (to === undefined) {
      if (out.json === undefined) await out.jsonFile(`${JSON.stringify(proof, null, 2)}\n`);
      else await out.value(proof);
      return done;
    }
    write(to, `${JSON.stringify(proof, null, 2)}\n`);
    const { root } = proof.proof === 'reprise-inclusion' ? proof.tree : proof.second;
    if (out.json !== undefined) await out.value(proof);
    else await out.line(`root ${root}`);
    out.say(`Wrote ${plain(to)}. Its root is worth keeping elsewhere.`);
    out.next(`reprise verify ${to} --root ${root}`);
    return done;
  },
};

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new RepriseError('store.failed', `Cannot write ${JSON.stringify(path)}: ${messageOf(error)}`, {
      hint: 'Choose a file in a writable directory.',
      cause: error,
    });
  }
}
