import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { inStory, type PointInput } from '../../core/ref.ts';
import type { OpenRef } from '../../reading/open-ref.ts';
import type { Context } from '../context.ts';
import { numberOption, type OptionValues, textOption } from '../option-values.ts';
import { JsonList } from '../terminal/json-list.ts';
import { type Column, tableLines } from '../terminal/table.ts';
import { wholeNumber } from './number-option.ts';

/** The options that select a point, and a turn of the story. */
export const momentOptions: readonly Option[] = [
  new Option('--story <n>', 'leave out everything of a later turn, wherever it is').argParser(wholeNumber),
  new Option('--at <at>', 'point on the branch: a seq, run:ID, time:ISO …; the same as REF@at'),
];

/** Looks up a ref with its `--at`. */
export async function momentOf(context: Context, text: string, options: OptionValues): Promise<OpenRef> {
  const at = textOption(options, 'at');
  if (at !== undefined && text.includes('@')) {
    throw new RepriseError('ref.invalid', `Cannot use ${JSON.stringify(text)} with --at: both name a point`, {
      hint: 'Use only one of them.',
    });
  }
  return context.at(at === undefined ? text : `${text}@${at.replace(/^@/, '')}`);
}

/** Returns where to look: the point of a ref, and the turn of the story. */
export function pointIn({ ref, point }: OpenRef, options: OptionValues): PointInput {
  const story = numberOption(options, 'story');
  return story === undefined ? point : inStory(ref, story);
}

/** Prints rows as a table, as JSON lines, or as one JSON object. */
export async function printRows<Answer extends object, Key extends keyof Answer & string, Row>(
  { out }: Context,
  { first, key }: { readonly first: Omit<Answer, Key>; readonly key: Key },
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Promise<void> {
  if (out.json === 'object') {
    const list = new JsonList<Answer, Key>(out, first as never, key);
    for (const row of rows) await list.add(row as never);
    await list.end({} as never);
  } else if (out.json === 'lines') for (const row of rows) await out.value(row);
  else if (rows.length > 0)
    await out.lines(tableLines(rows, columns, { columns: out.tableColumns, bold: (text) => out.bold(text) }));
}
