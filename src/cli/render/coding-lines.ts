import type { Coding, CodingFailure } from '../../core/coding/coding.ts';
import type { CodingDiff, TestTransition } from '../../core/coding/coding-diff.ts';
import type { PatchedFile } from '../../core/coding/patched-file.ts';
import { bytesText } from '../../wording/amount.ts';
import { cut, plain } from '../../wording/text.ts';
import type { Output, Style } from '../terminal/output.ts';

const shownMax = 20;

const patchText = (count: number): string => `${count} ${count === 1 ? 'patch' : 'patches'}`;

const statusStyles: Readonly<Record<CodingFailure['status'], Style>> = {
  active: 'red',
  flaky: 'yellow',
  missing: 'yellow',
  resolved: 'green',
};

/** Prints what a coding session knows: goal, constraints, tests, files and risks. */
export function codingLines(out: Output, known: Coding): string[] {
  const { goal, constraints, failures, files, decisions, risks } = known;
  const line = (text: string): string => cut(plain(text), Math.max(1, out.columns - 2));
  return [
    ...section(out, 'Goal', goal === null ? [] : [line(goal.text)]),
    ...section(
      out,
      'Constraints',
      constraints.map(({ strength, text }) => line(`${strength}  ${text}`)),
    ),
    ...section(out, 'Tests', testLines(out, failures)),
    ...section(
      out,
      'Changed files',
      files.map(({ path, patches, summary }) =>
        line(`${path}  ${patchText(patches)}${summary === null ? '' : `  ${summary}`}`),
      ),
    ),
    ...section(
      out,
      'Decisions',
      decisions.map(({ text }) => line(text)),
    ),
    ...section(
      out,
      'Quarantined',
      risks.map(({ title, seq }) => line(`@${seq}  ${title}`)),
    ),
  ];
}

/** Prints the tests that are not resolved first, and how each came to its status. */
function testLines(out: Output, failures: readonly CodingFailure[]): string[] {
  const open = failures.filter(({ status }) => status !== 'resolved');
  const resolved = failures.filter(({ status }) => status === 'resolved');
  return [...open, ...resolved].map(({ test, status, how, lastSeen, reactivations }) => {
    const again = reactivations === 0 ? '' : `, again ${reactivations}×`;
    const about = `${test}  (${how}${again}, @${lastSeen})`;
    return `${out.style(statusStyles[status], status.padEnd(8))} ${cut(plain(about), Math.max(1, out.columns - 11))}`;
  });
}

/** Prints the failing tests and the constraints of a coding session, for `reprise show`. */
export function openWorkLines(out: Output, { constraints, failures }: Coding): string[] {
  const open = failures.filter(({ status }) => status !== 'resolved');
  return [
    ...section(
      out,
      'Constraints',
      constraints.map(({ strength, text }) => cut(plain(`${strength}  ${text}`), out.columns - 2)),
    ),
    ...section(out, 'Open failures', testLines(out, open)),
  ];
}

/** Prints a diff as transitions: the sentence, then the data. */
export function codingDiffLines(out: Output, diff: CodingDiff): string[] {
  const moved = (transitions: readonly TestTransition[]): string[] =>
    transitions.map(({ test, from, to, how }) => plain(`${test}  ${from ?? 'unknown'} → ${to ?? 'unknown'} (${how})`));
  const texts = ['constraints', 'decisions', 'procedures', 'evidence', 'facts', 'risks', 'files'] as const;
  return [
    out.bold(plain(diff.summary)),
    ...section(out, 'Tests', [
      ...moved([...diff.resolved, ...diff.newlyActive, ...diff.flaky, ...diff.missing, ...diff.gone]),
      ...diff.stillActive.map((test) => plain(`${test}  still active`)),
    ]),
    ...texts.flatMap((name) =>
      section(out, name.charAt(0).toUpperCase() + name.slice(1), [
        ...diff[name].added.map((text) => out.style('green', plain(`+ ${text}`))),
        ...diff[name].removed.map((text) => out.style('red', plain(`- ${text}`))),
      ]),
    ),
  ];
}

/** Prints rebuilt files: their size, or why they are unknown, and what did not fit. */
export function fileLines(out: Output, files: readonly PatchedFile[]): string[] {
  return files.flatMap((file) => {
    const size = file.status === 'known' ? bytesText(Buffer.byteLength(file.content)) : file.status;
    const why = file.status === 'unknown' ? `: ${file.reason}` : '';
    const count = patchText(file.patches.length);
    return [
      plain(`${file.path}  ${size}, ${count}${why}`),
      ...file.faults.map(({ seq, reason }) => out.style('yellow', plain(`  @${seq}  ${reason}`))),
    ];
  });
}

function section(out: Output, title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const hidden = lines.length - shownMax;
  const more = hidden > 0 ? [out.dim(`… ${hidden} more (--json shows all)`)] : [];
  return ['', out.bold(title), ...[...lines.slice(0, shownMax), ...more].map((line) => `  ${line}`)];
}
