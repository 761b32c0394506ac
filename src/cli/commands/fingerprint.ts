import { existsSync, readFileSync } from 'node:fs';
import { Option } from 'commander';
import { checkFingerprint, compareFingerprints } from '../../core/fingerprint.ts';
import { refText } from '../../core/ref.ts';
import type { CommandSpec } from '../command.ts';
import { done, no } from '../exit-code.ts';

/** `reprise fingerprint`. */
export const fingerprint: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'where: session[/branch][@at]' }],
  options: [new Option('--expect <hash>', 'the fingerprint it must have, or a file that holds one')],
  examples: ['reprise fingerprint latest', 'reprise fingerprint latest > expected.txt', 'reprise fingerprint latest --expect expected.txt'],
  run: async (context, [text = 'latest'], options) => {
    const { out } = context;
    const { session, ref, point } = await context.at(text);
    const expect = options['expect'] as string | undefined;
    const expected = expect === undefined ? undefined : checkFingerprint(existsSync(expect) ? readFileSync(expect, 'utf8').trim() : expect);
    const found = await session.fingerprint(point);
    const { digest } = await session.locate(point);
    const isSame = expected === undefined || compareFingerprints(found, expected) === 'equal';
    if (out.json !== undefined) await out.value({ ref: refText(ref), fingerprint: found, digest, ...(expected === undefined ? {} : { expected, same: isSame }) });
    else await out.line(found);
    if (!isSame) out.say(`${out.style('red', 'different')}: expected ${expected ?? ''}. Compare with "reprise diff" to see where.`);
    return isSame ? done : no;
  },
};
