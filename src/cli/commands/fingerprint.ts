import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { checkFingerprint } from '../../core/comparing/fingerprint.ts';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { type Difference, type FingerprintAnswer, firstDifference } from '../../reading/answers/first-difference.ts';
import { eventsUpTo, type OpenRef } from '../../reading/open-ref.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { textOption } from '../option-values.ts';
import { storedObject, storedValue } from '../options/stored-value.ts';

/** `reprise fingerprint`. */
export const fingerprint: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'history: session[/branch][@at]' }],
  options: [
    new Option('--expect <hash>', 'compare with this fingerprint, or with a file that has one (plain or from --json)'),
  ],
  examples: [
    'reprise fingerprint latest',
    'reprise fingerprint demo --json > expected.json',
    'reprise fingerprint latest --expect expected.json',
  ],
  run: async (context, [text = 'latest'], options) => {
    const { out } = context;
    const asked = textOption(options, 'expect');
    const expected = asked === undefined ? undefined : expectedIn(asked);
    const found = await context.at(text);
    const answer = await read(context, found, expected);
    if (answer.same !== false) {
      if (answer.same === true) out.say('The fingerprint is as expected.');
      await (out.json === undefined ? out.line(answer.fingerprint) : out.value(answer));
      return done;
    }
    const kept = asked === undefined ? undefined : storedObject(asked)?.['ref'];
    const reference = typeof kept === 'string' ? kept : undefined;
    out.progress.begin('first difference', eventsUpTo(found));
    const { sha256 } = createNodePlatform();
    const expectation = { expected: expected ?? '', reference };
    const difference = await firstDifference(await context.open(), sha256, found, expectation);
    out.progress.end();
    if (out.json === undefined) await print(context, found, answer, difference);
    else await out.value({ ...answer, difference } satisfies FingerprintAnswer);
    return no;
  },
};

async function read(
  { out }: Context,
  found: OpenRef,
  expected: string | undefined,
): Promise<Omit<FingerprintAnswer, 'difference'>> {
  const { session, point } = found;
  out.progress.begin('fingerprint', eventsUpTo(found));
  const value = await session.at(point).fingerprint();
  out.progress.end();
  const { branch, seq, digest } = await session.at(point).locate();
  const ref = refText({ session: session.id, branch, at: { kind: 'seq', seq } });
  const same = expected === undefined ? undefined : expected === value;
  return { ref, fingerprint: value, digest, ...given({ expected, same }) };
}

function expectedIn(text: string): string {
  if (/^\w+:/.test(text) || existsSync(text)) return checkFingerprint(storedValue(text, 'fingerprint'));
  throw new RepriseError(
    'ref.invalid',
    `Cannot compare with ${JSON.stringify(text)}: it is neither a fingerprint nor a file`,
    { hint: 'A fingerprint is "rf1:" and 64 hexadecimal digits, as "reprise fingerprint REF" prints it.' },
  );
}

async function print(
  { out }: Context,
  { ref }: OpenRef,
  { fingerprint: value, expected = '' }: Omit<FingerprintAnswer, 'difference'>,
  { reference, at, type, reason }: Difference,
): Promise<void> {
  await out.line(value);
  await out.line(`${out.style('red', 'different')}  expected ${expected}`);
  const what = at === null ? '' : `: ${plain(at)}${type === null ? '' : ` ${plain(type)}`},`;
  await out.line(`first difference${what} ${plain(reason)}`);
  out.next(`reprise diff ${reference ?? 'REFERENCE'} ${refText(ref)}`);
}
