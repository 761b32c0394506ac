import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';
import { type ArtifactCheck, checkArtifacts, manifestName } from '../../core/coding/artifact.ts';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { digest } from '../../core/point.ts';
import { refText } from '../../core/ref.ts';
import type { Verification } from '../../engine/proving/verify.ts';
import { filesIn } from '../../node/folder-writer.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { eventsUpTo, type OpenRef } from '../../reading/open-ref.ts';
import { plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { textOption } from '../option-values.ts';
import { storedValue } from '../options/stored-value.ts';

/** The result of a verification, as `reprise verify --json` prints it. */
export type VerifyAnswer = Omit<Verification, 'digest'>;

/** `reprise verify`. */
export const verify: CommandSpec = {
  arguments: [
    {
      name: '<ref>',
      about: 'branch, or point to verify up to: session[/branch][@at]; or the folder of an exported run',
    },
  ],
  options: [
    new Option('--head <digest>', 'digest kept elsewhere that the history must still have, or a file with one'),
  ],
  examples: [
    'reprise verify latest',
    'reprise fingerprint demo --json > kept.json',
    'reprise verify demo --head kept.json',
    'reprise verify demo@12',
  ],
  run: async (context, [text = 'latest'], options) => {
    if (existsSync(join(text, manifestName))) return checkExport(context, text);
    const kept = textOption(options, 'head');
    const head = kept === undefined ? undefined : headIn(kept);
    return check(context, await context.at(text), head);
  },
};

/** Checks the folder of an exported run, without a store. */
async function checkExport({ out }: Context, folder: string): Promise<number> {
  const files = (await filesIn(folder)) ?? new Map<string, string>();
  const checked: ArtifactCheck = checkArtifacts(createNodePlatform().sha256, files);
  const { ok, run, firstBad, reason, manifestHash } = checked;
  if (out.json !== undefined) await out.value(checked);
  else if (ok) {
    const about = `run ${plain(run ?? '')}, ${plural(checked.files, 'file')}, manifest ${manifestHash ?? ''}`;
    await out.line(`${out.style('green', 'verified')}  ${about}`);
    out.say('The files are as they were exported. That the log says the same, a new export shows.');
  } else await out.line(`${out.style('red', 'not verified')}  ${plain(firstBad ?? '')}: ${reason ?? ''}`);
  return ok ? done : no;
}

function headIn(text: string): string {
  const value = storedValue(text, 'digest');
  if (/^[0-9a-f]{64}$/.test(value) || existsSync(text)) return digest(value);
  throw new RepriseError(
    'ref.invalid',
    `Cannot compare with ${JSON.stringify(text)}: it is neither a digest nor a file`,
    { hint: 'A digest is 64 hexadecimal digits, as "reprise fingerprint REF --json" prints it.' },
  );
}

async function check({ out }: Context, found: OpenRef, head: string | undefined): Promise<number> {
  const { session, ref, point } = found;
  out.progress.begin('verify', eventsUpTo(found));
  const verified = await session.verify({ at: point, ...given({ head }) }).finally(() => out.progress.end());
  const { digest: reached, ...answer } = verified;
  const { ok, events, firstBad, reason, notCovered } = answer;
  if (out.json !== undefined) await out.value(answer satisfies VerifyAnswer);
  else if (ok) {
    await out.line(`${out.style('green', 'verified')}  ${plural(events, 'event')}, digest ${reached ?? ''}`);
    const [unproven, later] = partition(notCovered);
    if (unproven.length > 0)
      out.say(`To rule out a ${unproven.join(' or a ')}, keep this digest elsewhere and verify with --head.`);
    if (later.length > 0) out.say(`Not verified: events ${later.join(', ')}.`);
    if (head === undefined) out.next(`reprise verify ${refText(ref)} --head ${reached ?? ''}`);
  } else {
    const branch = refText({ session: ref.session, branch: ref.branch });
    await out.line(`${out.style('red', 'not verified')}  first bad seq ${String(firstBad)}: ${plain(reason ?? '')}`);
    out.say(`The ${plural(events, 'event')} before it ${events === 1 ? 'is' : 'are'} as recorded.`);
    out.next(`reprise replay ${branch} --raw --after ${Math.max(0, (firstBad ?? 1) - 3)} --limit 5`);
  }
  return ok ? done : no;
}

/** Splits the list into what a digest would cover, and the events after the point. */
function partition(notCovered: readonly string[]): readonly [string[], string[]] {
  const isLater = (what: string): boolean => what.startsWith('after ');
  return [notCovered.filter((what) => !isLater(what)), notCovered.filter(isLater)];
}
