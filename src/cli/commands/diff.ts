import { Option } from 'commander';
import type { StrictDiff } from '../../core/comparing/diff-strict.ts';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import type { Comparison } from '../../engine/looking/compare.ts';
import { diffAnswer, readDiffDetails, strictDiffAnswer } from '../../reading/answers/diff-answer.ts';
import { eventsUpTo, type OpenRef } from '../../reading/open-ref.ts';
import { plural } from '../../wording/amount.ts';
import { divergenceLines, verdictText } from '../../wording/diff-verdict.ts';
import { beliefsDiffLines } from '../../wording/fleet-text.ts';
import { strictDiffLines } from '../../wording/strict-diff-lines.ts';
import { cut, fold, plain } from '../../wording/text.ts';
import { projectionNamed } from '../answering/node-projections.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done, no } from '../exit-code.ts';
import { collect, flagOption, listOption, numberOption, textOption } from '../option-values.ts';
import { wholeNumber } from '../options/number-option.ts';
import { diffLines } from '../render/diff-lines.ts';
import { differenceLines } from '../render/known-lines.ts';
import { usageLines } from '../render/usage-lines.ts';
import type { Style } from '../terminal/output.ts';

const linesMax = 40;
const aroundEvents = 1;

/** `reprise diff`. */
export const diff: CommandSpec = {
  arguments: [
    { name: '<a>', about: 'left side: session[/branch][@at]' },
    { name: '<b>', about: 'right side: session[/branch][@at]' },
  ],
  options: [
    new Option('--state <projection>', 'also compare the value of this projection; repeatable').argParser(collect),
    new Option('--beliefs', 'also compare beliefs, agents and answers, and say what each difference goes back to'),
    new Option('--from-turn <n>', 'with --beliefs: only what is of this turn or later').argParser(wholeNumber),
    new Option('--strict', 'pair events by position and compare only their types').conflicts('state'),
    new Option('--format <format>', 'compare strictly the events that a file in this format would have')
      .choices(['shipit'])
      .implies({ strict: true })
      .conflicts('state'),
    new Option(
      '--limit <n>',
      `show at most this many differences (default: ${linesMax}; all of them in JSON)`,
    ).argParser(wholeNumber),
  ],
  examples: [
    'reprise diff demo demo/careful',
    'reprise diff demo@12 other --state conversation',
    'reprise diff demo demo/careful --beliefs',
    'reprise diff demo demo/careful --strict',
    'reprise diff demo demo/careful --format shipit',
  ],
  run: async (context, [a = '', b = ''], options) => {
    const { out } = context;
    const states = listOption(options, 'state').map((name) => projectionNamed(name).projection);
    const [left, right] = [await context.at(a), await context.at(b)];
    const reprise = await context.open();
    const limit = numberOption(options, 'limit') ?? (out.json === undefined ? linesMax : Number.POSITIVE_INFINITY);
    const refs = [refText(left.ref), refText(right.ref)] as const;
    out.progress.begin('diff', eventsUpTo(left) + eventsUpTo(right));
    if (flagOption(options, 'strict')) {
      const format = textOption(options, 'format');
      const found = await reprise.diff(...refs, { strict: true, ...given({ format }) });
      out.progress.end();
      if (out.json === undefined) await printStrict(context, found, limit);
      else await out.value(strictDiffAnswer(found, limit));
      return found.identical ? done : no;
    }
    const beliefs = flagOption(options, 'beliefs');
    const fromTurn = numberOption(options, 'fromTurn');
    const found = await reprise.diff(...refs, { states, ...(beliefs ? { beliefs } : {}), ...given({ fromTurn }) });
    out.progress.end();
    if (out.json === undefined) await print(context, found, { left, right, limit });
    else await out.value(diffAnswer(found, limit));
    return found.identical ? done : no;
  },
};

/** Prints the lines of a strict diff, and how many differences they leave out. */
async function printStrict({ out }: Context, found: StrictDiff, limit: number): Promise<void> {
  const lines = strictDiffLines(found, limit);
  await out.lines(lines.map((line) => cut(plain(line), out.tableColumns)));
  const all = found.typeMismatches.length + found.onlyLeft.length + found.onlyRight.length;
  const hidden = all - lines.filter((line) => line.startsWith('  [')).length;
  if (hidden > 0) out.say(out.dim(`… ${plural(hidden, 'more difference')}. --json has all of them.`));
}

interface Sides {
  readonly left: OpenRef;
  readonly right: OpenRef;
  readonly limit: number;
}

async function print({ out }: Context, found: Comparison, { left, right, limit }: Sides): Promise<void> {
  const folded = (text: string): readonly string[] => fold(text, out.columns).lines;
  const style: Style = found.identical ? ['bold', 'green'] : 'bold';
  await out.lines(folded(verdictText(found)).map((line) => out.style(style, line)));
  await out.lines(
    divergenceLines(found)
      .flatMap(folded)
      .map((line) => out.dim(line)),
  );
  const details = await readDiffDetails(found, left, right, { limit, around: aroundEvents });
  if (details.hunks.length > 0) {
    const names = { left: refText(left.ref), right: refText(right.ref) };
    await out.lines(['', ...diffLines(out, details.hunks, names)]);
  }
  const hidden = found.changed + found.onlyLeft + found.onlyRight - limit;
  if (hidden > 0) out.say(out.dim(`… ${plural(hidden, 'more difference')}. To see all, add --limit ${limit + hidden}`));
  for (const [name, states] of Object.entries(found.states)) {
    const lines = states.identical ? ['the same'] : differenceLines(out, states, limit);
    await out.lines(['', out.bold(`state ${plain(name)}`), ...lines.map((line) => `  ${line}`)]);
  }
  if (found.beliefs !== undefined) {
    const lines = found.beliefs.identical ? ['the same'] : beliefsDiffLines(found.beliefs).slice(0, limit);
    const shown = lines.map((line) => `  ${cut(plain(line), Math.max(20, out.columns - 2))}`);
    await out.lines(['', out.bold('beliefs'), ...shown]);
  }
  await out.lines(['', ...usageLines(out, details.left, details.right)]);
  const at = found.divergedAt;
  if (at?.left !== undefined && at.left !== null)
    out.next(`reprise show ${refText({ ...left.ref, at: { kind: 'seq', seq: at.left } })}`);
}
