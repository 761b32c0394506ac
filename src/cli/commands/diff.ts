import { Option } from 'commander';
import type { DiffPlace } from '../../core/comparing/diff.ts';
import type { StrictDiff } from '../../core/comparing/diff-strict.ts';
import { refText } from '../../core/ref.ts';
import type { Comparison } from '../../engine/looking/compare.ts';
import { summary } from '../../projections/summary.ts';
import { pairHunks, readHunks } from '../../reading/diff-hunks.ts';
import { countText, plural } from '../../wording/amount.ts';
import { strictDiffLines } from '../../wording/strict-diff-lines.ts';
import { cut, fold, plain } from '../../wording/text.ts';
import { projectionNamed } from '../answering/shipped-projections.ts';
import type { CommandSpec } from '../command.ts';
import type { Context, Found } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { wholeNumber } from '../options/number-option.ts';
import { diffLines } from '../render/diff-lines.ts';
import { differenceLines } from '../render/known-lines.ts';
import { usageLines } from '../render/usage-lines.ts';
import type { Style } from '../terminal/output.ts';

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const linesMax = 40;
const aroundEvents = 1;

/** `reprise diff`. */
export const diff: CommandSpec = {
  arguments: [
    { name: '<a>', about: 'a place: session[/branch][@at]' },
    { name: '<b>', about: 'another' },
  ],
  options: [
    new Option('--state <projection>', 'also how the states of a projection differ; may be given again').argParser(
      collect,
    ),
    new Option('--strict', 'pair events by position and compare their types alone').conflicts('state'),
    new Option('--format <format>', 'strictly, as another system counts: the events a file of this format would have')
      .choices(['shipit'])
      .implies({ strict: true })
      .conflicts('state'),
    new Option('--limit <n>', `differences at most (default: ${linesMax}; all in JSON)`).argParser(wholeNumber),
  ],
  examples: [
    'reprise diff demo demo/careful',
    'reprise diff demo@12 other --state conversation',
    'reprise diff demo demo/careful --strict',
    'reprise diff demo demo/careful --format shipit',
  ],
  run: async (context, [a = '', b = ''], options) => {
    const { out } = context;
    const names = (options['state'] as readonly string[] | undefined) ?? [];
    const states = names.map((name) => projectionNamed(name) as never);
    const [left, right] = [await context.at(a), await context.at(b)];
    const reprise = await context.open();
    const limit =
      (options['limit'] as number | undefined) ?? (out.json === undefined ? linesMax : Number.POSITIVE_INFINITY);
    out.progress.begin('diff', await eventsIn(left, right));
    if (options['strict'] === true) {
      const found = await reprise.diff(refText(left.ref), refText(right.ref), {
        strict: true,
        ...(options['format'] === undefined ? {} : { format: options['format'] as string }),
      });
      out.progress.end();
      if (out.json === undefined) await printStrict(context, found, limit);
      else await out.value(strictShape(found, limit));
      return found.identical ? done : no;
    }
    const found = await reprise.diff(refText(left.ref), refText(right.ref), { states });
    out.progress.end();
    if (out.json === undefined) await print(context, found, { left, right, limit });
    else await out.value(shapeOf(found, limit));
    return found.identical ? done : no;
  },
};

/** The lines of a strict diff, and how many differences they leave out. */
async function printStrict({ out }: Context, found: StrictDiff, limit: number): Promise<void> {
  const lines = strictDiffLines(found, limit);
  await out.lines(lines.map((line) => cut(plain(line), out.tableColumns)));
  const all = found.typeMismatches.length + found.onlyLeft.length + found.onlyRight.length;
  const hidden = all - lines.filter((line) => line.startsWith('  [')).length;
  if (hidden > 0) out.say(out.dim(`… ${plural(hidden, 'difference')} more: --json shows all.`));
}

async function eventsIn(left: Found, right: Found): Promise<number> {
  const [a, b] = [await left.session.locate(left.point), await right.session.locate(right.point)];
  return a.seq + b.seq;
}

function shapeOf(found: Comparison, limit: number): Record<string, unknown> {
  const { identical, forkPoint, divergedAt, sustainedAt, matched, changed, onlyLeft, onlyRight, states } = found;
  const hunks = found.pairs.filter((pair) => pair.kind !== 'equal').slice(0, limit);
  return { identical, forkPoint, divergedAt, sustainedAt, matched, changed, onlyLeft, onlyRight, hunks, states };
}

/** The same shape for a strict diff: what it does not look at is null, or empty. */
function strictShape(found: StrictDiff, limit: number): Record<string, unknown> {
  const { identical, matched, typeMismatches, onlyLeft, onlyRight } = found;
  const [mismatch] = typeMismatches;
  const hunks = [
    ...typeMismatches.map((pair) => ({ kind: 'changed', ...pair })),
    ...onlyLeft.map(({ seq, type }) => ({ kind: 'onlyLeft', type, left: seq })),
    ...onlyRight.map(({ seq, type }) => ({ kind: 'onlyRight', type, right: seq })),
  ];
  const ends = { left: onlyLeft[0]?.seq ?? null, right: onlyRight[0]?.seq ?? null };
  const place: DiffPlace = mismatch === undefined ? ends : { left: mismatch.left, right: mismatch.right };
  return {
    identical,
    forkPoint: null,
    divergedAt: identical ? null : place,
    sustainedAt: null,
    matched,
    changed: typeMismatches.length,
    onlyLeft: onlyLeft.length,
    onlyRight: onlyRight.length,
    hunks: hunks.slice(0, limit),
    states: {},
  };
}

interface Sides {
  readonly left: Found;
  readonly right: Found;
  readonly limit: number;
}

async function print({ out }: Context, found: Comparison, { left, right, limit }: Sides): Promise<void> {
  const folded = (text: string): readonly string[] => fold(text, out.columns).lines;
  const style: Style = found.identical ? ['bold', 'green'] : 'bold';
  await out.lines(folded(verdict(found)).map((line) => out.style(style, line)));
  await out.lines(
    whereLines(found)
      .flatMap(folded)
      .map((line) => out.dim(line)),
  );
  const chosen = pairHunks(found.pairs, limit, aroundEvents);
  if (chosen.length > 0) {
    const sides = { left: refText(left.ref), right: refText(right.ref) };
    await out.lines(['', ...diffLines(out, await readHunks(chosen, left, right), sides)]);
  }
  const hidden = found.changed + found.onlyLeft + found.onlyRight - limit;
  if (hidden > 0) out.say(out.dim(`… ${plural(hidden, 'difference')} more: --limit ${limit + hidden} shows all.`));
  for (const [name, states] of Object.entries(found.states)) {
    const lines = states.identical ? ['the same'] : differenceLines(out, states, limit);
    await out.lines(['', out.bold(`state ${plain(name)}`), ...lines.map((line) => `  ${line}`)]);
  }
  const usages = [
    await left.session.stateAt(left.point, summary),
    await right.session.stateAt(right.point, summary),
  ] as const;
  await out.lines(['', ...usageLines(out, ...usages)]);
  const at = found.divergedAt;
  if (at?.left !== undefined && at.left !== null)
    out.next(`reprise show ${refText({ ...left.ref, at: { kind: 'seq', seq: at.left } })}`);
}

function verdict({ identical, matched, changed, onlyLeft, onlyRight }: Comparison): string {
  if (identical) return `The same: they behaved alike in ${plural(matched, 'event')}.`;
  const counts = [
    `${countText(matched)} equal`,
    `${countText(changed)} changed`,
    `${countText(onlyLeft)} only left`,
    `${countText(onlyRight)} only right`,
  ];
  return `Different: ${counts.join(', ')}.`;
}

/** Where they have parted: from which point they were forked, where they first differ, and from where for good. */
function whereLines({ forkPoint, divergedAt, sustainedAt }: Comparison): string[] {
  const place = ({ left, right }: DiffPlace): string =>
    `${left === null ? 'the end' : `@${left}`} on the left, ${right === null ? 'the end' : `@${right}`} on the right`;
  const forked =
    forkPoint === null
      ? 'They share no beginning.'
      : `They share everything up to ${forkPoint.branch}@${forkPoint.seq}.`;
  if (divergedAt === null) return [forked];
  const isForGood = sustainedAt?.left === divergedAt.left && sustainedAt.right === divergedAt.right;
  const rest =
    sustainedAt === null
      ? ' They come together again.'
      : isForGood
        ? ''
        : ` For good they part at ${place(sustainedAt)}.`;
  return [forked, `They first differ at ${place(divergedAt)}.${rest}`];
}
