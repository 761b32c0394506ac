import type { BundleVerification, SignatureVerdict } from '../../engine/bundling/verify-bundle.ts';
import type { ProofVerification } from '../../engine/proving/event-proof.ts';
import { plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { Output } from '../terminal/output.ts';

/** Returns the lines of a verdict on a bundle. */
export function bundleLines(out: Output, verdict: BundleVerification): readonly string[] {
  const { ok, reason, where, session, events, branches, root, signature, redacted } = verdict;
  const place =
    where.seq === undefined
      ? ''
      : `first bad seq ${where.seq}${where.branch === undefined ? '' : ` of "${plain(where.branch)}"`}: `;
  if (!ok) return [`${out.style('red', 'not verified')}  ${place}${plain(reason ?? '')}`];
  const held = `${plural(events, 'event')} of ${plain(session ?? '')} on ${branches.length === 1 ? 'one branch' : `${branches.length} branches`}`;
  return [
    `${out.style('green', 'verified')}  ${held}, root ${root ?? ''}`,
    ...branches.map(({ name, head, digest }) => `  ${plain(name)}@${head}  ${digest}`),
    signatureLine(signature),
    ...(redacted === null
      ? []
      : [
          `${plural(
            redacted.events.reduce((sum, { seqs }) => sum + seqs.length, 0),
            'payload',
          )} taken out by ${plain(redacted.rules.join(', '))}`,
        ]),
    ...claimLines(verdict),
  ];
}

function signatureLine({ state, key, trust, name }: SignatureVerdict): string {
  if (state === 'none' || key === null) return 'not signed';
  const why =
    trust === 'given'
      ? 'the given key'
      : trust === 'pinned'
        ? `pinned as ${plain(name ?? '')}`
        : 'no one vouched for this key';
  return `signed by ${plain(key)} (${why})`;
}

/** Returns what a verdict proves and does not prove, a sentence to a line. */
export function claimLines({ proves, doesNotProve }: Pick<ProofVerification, 'proves' | 'doesNotProve'>): string[] {
  return [
    'It proves:',
    ...proves.map((sentence) => `  ${plain(sentence)}`),
    'It does not prove:',
    ...doesNotProve.map((sentence) => `  ${plain(sentence)}`),
  ];
}
