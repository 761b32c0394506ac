import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { digest } from '../../core/point.ts';
import { refText } from '../../core/ref.ts';
import { countText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context, Found } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { storedValue } from '../options/stored-value.ts';

/** `reprise verify`. */
export const verify: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the branch, or the point to check up to: session[/branch][@at]' }],
  options: [
    new Option('--head <digest>', 'a digest held elsewhere that the history must still have, or a file with one'),
  ],
  examples: [
    'reprise verify latest',
    'reprise fingerprint demo --json > kept.json',
    'reprise verify demo --head kept.json',
    'reprise verify demo@12',
  ],
  run: async (context, [text = 'latest'], options) => {
    const given = options['head'] as string | undefined;
    const head = given === undefined ? undefined : headIn(given);
    return check(context, await context.at(text), head);
  },
};

function headIn(given: string): string {
  const value = storedValue(given, 'digest');
  if (/^[0-9a-f]{64}$/.test(value) || existsSync(given)) return digest(value);
  throw new RepriseError(
    'ref.invalid',
    `Cannot hold it against ${JSON.stringify(given)}: it is neither a digest nor a file`,
    { hint: 'A digest is 64 hexadecimal digits, as "reprise fingerprint REF --json" prints it.' },
  );
}

async function check({ out }: Context, { session, ref, point }: Found, head: string | undefined): Promise<number> {
  out.progress.begin('verify', ref.at.kind === 'seq' ? ref.at.seq : (await session.branch(ref.branch)).head);
  const found = await session.verify({ at: point, ...given({ head }) }).finally(() => out.progress.end());
  const { ok, events, firstBad, reason, notCovered } = found;
  const branch = refText({ session: ref.session, branch: ref.branch });
  if (out.json !== undefined) {
    await out.value({ ok, events, firstBad, reason, notCovered });
  } else if (ok) {
    await out.line(`${out.style('green', 'verified')}  ${countText(events)} events, digest ${found.digest ?? ''}`);
    const [unproven, unseen] = partition(notCovered);
    if (unproven.length > 0)
      out.say(`Not covered without a digest that you keep elsewhere (--head): ${unproven.join(', ')}.`);
    if (unseen.length > 0) out.say(`Not looked at: what comes ${unseen.join(', ')}.`);
    if (head === undefined) out.next(`reprise verify ${refText(ref)} --head ${found.digest ?? ''}`);
  } else {
    await out.line(`${out.style('red', 'not verified')}  first bad seq ${String(firstBad)}: ${plain(reason ?? '')}`);
    out.say(`The ${countText(events)} events before it are what was recorded.`);
    out.next(`reprise replay ${branch} --raw --after ${Math.max(0, (firstBad ?? 1) - 3)} --limit 5`);
  }
  return ok ? done : no;
}

/** What a digest would cover, and what comes after the point. */
function partition(notCovered: readonly string[]): readonly [string[], string[]] {
  const isUnseen = (what: string): boolean => what.startsWith('after ');
  return [notCovered.filter((what) => !isUnseen(what)), notCovered.filter(isUnseen)];
}
