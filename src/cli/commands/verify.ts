import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { Option } from 'commander';
import { type ArtifactCheck, checkArtifacts, manifestName } from '../../core/coding/artifact.ts';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { digest } from '../../core/point.ts';
import { refText } from '../../core/ref.ts';
import { bundleNames } from '../../engine/bundling/bundle-manifest.ts';
import type { Verification, VerifyOptions } from '../../engine/proving/verify.ts';
import { filesIn } from '../../node/folder-writer.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { checkPublicKey, pinnedKeys } from '../../node/signing-key.ts';
import { verifyBundle, verifyProof } from '../../open-bundle.ts';

import { eventsUpTo, type OpenRef } from '../../reading/open-ref.ts';
import { countText, plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import { shipped } from '../answering/node-projections.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { flagOption, textOption } from '../option-values.ts';
import { readFailure } from '../options/read-failure.ts';
import { storedValue } from '../options/stored-value.ts';
import { bundleLines, claimLines } from '../render/bundle-lines.ts';
import type { Output } from '../terminal/output.ts';

/** The result of a verification, as `reprise verify --json` prints it. */
export type VerifyAnswer = Omit<Verification, 'digest'>;

/** `reprise verify`. */
export const verify: CommandSpec = {
  arguments: [
    {
      name: '<ref>',
      about:
        'branch, or point to verify up to: session[/branch][@at]; or a bundle, a file with a proof, or the folder of an exported run',
    },
  ],
  options: [
    new Option('--head <digest>', 'digest kept elsewhere that the history must still have, or a file with one'),
    new Option('--key <key>', 'of a bundle: the public key that must have signed it'),
    new Option('--root <hash>', 'of a bundle or proof: the Merkle root that you kept'),
    new Option(
      '--deep',
      'also check every other branch, the key index, clocks and snapshots, and the store file itself',
    ),
  ],
  examples: [
    'reprise verify latest',
    'reprise fingerprint demo --json > kept.json',
    'reprise verify demo --head kept.json',
    'reprise verify demo@12',
    'reprise verify demo --deep',
    'reprise export demo --to kept.tgz',
    'reprise verify kept.tgz',
  ],
  run: async (context, [text = 'latest'], options) => {
    if (isExport(text)) return checkExport(context, text);
    const kept = textOption(options, 'head');
    const head = kept === undefined ? undefined : headIn(kept);
    const [key, root] = [textOption(options, 'key'), textOption(options, 'root')];
    if (isPath(text)) return checkFile(context, text, given({ key: key && checkPublicKey(key), root, head }));
    if (key !== undefined || root !== undefined)
      throw new RepriseError('option.invalid', 'Cannot use --key and --root here: they are for bundles and proofs', {
        hint: 'Name the path of a bundle or of a proof.',
      });
    return check(context, await context.at(text), { ...given({ head }), deep: flagOption(options, 'deep') });
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

/** Returns true if the argument is the folder of an exported run. A bundle has a manifest and a history. */
function isExport(text: string): boolean {
  return existsSync(join(text, manifestName)) && !existsSync(join(text, bundleNames.history));
}

/** Returns true if the argument is the path of a bundle or a proof, and not a ref. */
function isPath(text: string): boolean {
  return /\.(?:tgz|json)$/.test(text) || (existsSync(text) && statSync(text).isDirectory());
}

async function checkFile(
  { out }: Context,
  path: string,
  held: { readonly key?: string; readonly root?: string; readonly head?: string },
): Promise<number> {
  const { root } = held;
  if (path.endsWith('.json')) {
    const verdict = verifyProof(parsedFile(path), given({ root }));
    if (out.json !== undefined) await out.value(verdict);
    else if (verdict.ok) await out.lines([out.style('green', 'verified'), ...claimLines(verdict)]);
    else await out.line(`${out.style('red', 'not verified')}  ${plain(verdict.reason ?? '')}`);
    return verdict.ok ? done : no;
  }
  const projections = shipped().map(({ projection }) => projection);
  const verdict = await verifyBundle(path, { ...held, pinned: pinnedKeys(), projections });
  if (out.json !== undefined) await out.value(verdict);
  else await out.lines(bundleLines(out, verdict));
  return verdict.ok ? done : no;
}

function parsedFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown;
  } catch (error) {
    throw new RepriseError('bundle.invalid', `Cannot read ${JSON.stringify(path)}: ${readFailure(error)}`, {
      hint: 'Name a file that "reprise prove REF --to" wrote.',
      cause: error,
    });
  }
}

type Asked = Pick<VerifyOptions, 'head' | 'deep'>;

async function check({ out }: Context, found: OpenRef, asked: Asked): Promise<number> {
  const { session, ref, point } = found;
  out.progress.begin('verify', eventsUpTo(found));
  const verified = await session
    .at(point)
    .verify({ ...asked })
    .finally(() => out.progress.end());
  const { digest: reached, ...answer } = verified;
  const { ok, events, firstBad, reason, notCovered } = answer;
  if (out.json !== undefined) await out.value(answer satisfies VerifyAnswer);
  else if (firstBad !== null) {
    const branch = refText({ session: ref.session, branch: ref.branch });
    await out.line(`${out.style('red', 'not verified')}  first bad seq ${String(firstBad)}: ${plain(reason ?? '')}`);
    out.say(`The ${plural(events, 'event')} before it ${events === 1 ? 'is' : 'are'} as recorded.`);
    out.next(`reprise replay ${branch} --raw --after ${Math.max(0, (firstBad ?? 1) - 3)} --limit 5`);
  } else {
    const verdict = ok ? out.style('green', 'verified') : out.style('red', 'not verified');
    await out.line(`${verdict}  ${plural(events, 'event')}, digest ${reached ?? ''}`);
    await sayDeep(out, verified, refText({ session: ref.session }));
    if (ok) sayNotCovered(out, notCovered);
    if (ok && asked.head === undefined) out.next(`reprise verify ${refText(ref)} --head ${reached ?? ''}`);
  }
  return ok ? done : no;
}

/** Prints the result of a deep verification: what it checked, or the first faults. */
async function sayDeep(out: Output, { deep }: Verification, session: string): Promise<void> {
  if (deep === null) return;
  if (deep.count === 0) {
    await out.line(
      `${deep.branches === 1 ? 'The branch' : `All ${countText(deep.branches)} branches`}, the key index, clocks and snapshots match the log`,
    );
    return;
  }
  const shown = deep.faults.slice(0, faultsShownMax);
  await out.lines(shown.map(({ message }) => `  ${plain(message)}`));
  if (deep.count > shown.length) out.say(`${plural(deep.count - shown.length, 'more fault')} not shown.`);
  const isDerived = deep.faults.every(({ kind }) => kind !== 'event');
  if (isDerived) out.next(`reprise repair ${session}`);
}

function sayNotCovered(out: Output, notCovered: readonly string[]): void {
  const unproven = notCovered.filter((what) => chainWords.includes(what));
  const later = notCovered.filter((what) => what.startsWith('after '));
  const others = notCovered.filter((what) => !unproven.includes(what) && !later.includes(what));
  if (unproven.length > 0)
    out.say(`To rule out a ${unproven.join(' or a ')}, keep this digest elsewhere and verify with --head.`);
  if (later.length > 0) out.say(`Not verified: events ${later.join(', ')}.`);
  if (others.length > 1) out.say(`Not looked at: ${others.join(', ')}. --deep checks all of these but names.`);
}

const chainWords: readonly string[] = ['cut tail', 'rewritten chain'];
const faultsShownMax = 10;
