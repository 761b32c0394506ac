import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { checkFingerprint } from '../../core/comparing/fingerprint.ts';
import { RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import { plain } from '../../wording/text.ts';
import { type Difference, firstDifference } from '../answering/first-difference.ts';
import type { CommandSpec } from '../command.ts';
import type { Context, Found } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { storedObject, storedValue } from '../options/stored-value.ts';

/** `reprise fingerprint`. */
export const fingerprint: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'where: session[/branch][@at]' }],
  options: [
    new Option('--expect <hash>', 'the fingerprint it must have, or a file that holds one (also as --json prints it)'),
  ],
  examples: [
    'reprise fingerprint latest',
    'reprise fingerprint demo --json > expected.json',
    'reprise fingerprint latest --expect expected.json',
  ],
  run: async (context, [text = 'latest'], options) => {
    const given = options['expect'] as string | undefined;
    const expected = given === undefined ? undefined : expectedIn(given);
    const place = await context.at(text);
    const { session, point } = place;
    context.out.progress.begin('fingerprint', (await session.locate(point)).seq);
    const found = await session.fingerprint(point);
    context.out.progress.end();
    const { branch, seq, digest } = await session.locate(point);
    const ref = refText({ session: session.id, branch, at: { kind: 'seq', seq } });
    if (expected === undefined || expected === found) {
      if (expected !== undefined && context.out.json === undefined) context.out.say('It is as expected.');
      if (context.out.json === undefined) await context.out.line(found);
      else await context.out.value({ ref, fingerprint: found, digest, ...(expected ? { expected, same: true } : {}) });
      return done;
    }
    const kept = given === undefined ? undefined : storedObject(given)?.['ref'];
    const reference = typeof kept === 'string' ? kept : undefined;
    context.out.progress.begin('first difference', seq);
    const difference = await firstDifference(await context.open(), place, { expected, reference });
    context.out.progress.end();
    if (context.out.json !== undefined)
      await context.out.value({ ref, fingerprint: found, digest, expected, same: false, difference });
    else await tell(context, place, { found, expected, difference });
    return no;
  },
};

function expectedIn(given: string): string {
  if (/^\w+:/.test(given) || existsSync(given)) return checkFingerprint(storedValue(given, 'fingerprint'));
  throw new RepriseError(
    'ref.invalid',
    `Cannot expect ${JSON.stringify(given)}: it is neither a fingerprint nor a file`,
    {
      hint: 'A fingerprint is "rf1:" and 64 hexadecimal digits, as "reprise fingerprint REF" prints it.',
    },
  );
}

async function tell(
  { out }: Context,
  { ref }: Found,
  result: { readonly found: string; readonly expected: string; readonly difference: Difference },
): Promise<void> {
  const { found, expected, difference } = result;
  await out.line(found);
  await out.line(`${out.style('red', 'different')}  expected ${expected}`);
  const { reference, at, type, reason } = difference;
  const what = at === null ? '' : `: ${plain(at)}${type === null ? '' : ` ${plain(type)}`}`;
  await out.line(`first difference${what}, ${plain(reason)}`);
  out.next(`reprise diff ${reference === null ? 'REFERENCE' : reference} ${refText(ref)}`);
}
