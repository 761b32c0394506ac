import { type ChangedValue, pathText } from '../../core/comparing/value-diff.ts';
import type { Event } from '../../core/event/event.ts';
import type { JsonValue } from '../../core/json.ts';
import type { DiffHunk, DiffRow } from '../../reading/answers/diff-hunks.ts';
import { plural } from '../../wording/amount.ts';
import { detailOf, short } from '../../wording/event-gist.ts';
import { cut, fit, plain } from '../../wording/text.ts';
import { nearDifferences, wordRuns } from '../../wording/word-diff.ts';
import type { Output, Style } from '../terminal/output.ts';
import { foldSpans, type Span, spanLine } from '../terminal/spans.ts';

/** The names of the two sides. */
export interface DiffSides {
  readonly left: string;
  readonly right: string;
}

const wideColumns = 120;
// Wide enough for the longest common type, `verification.failed`.
const roomyColumns = 96;

/** Prints a diff: side by side in a wide terminal, else one side below the other. */
export function diffLines(out: Output, hunks: readonly DiffHunk[], sides: DiffSides): string[] {
  const layout = out.columns >= wideColumns ? sideBySide : unified;
  return [...layout.head(out, sides), ...hunks.flatMap((hunk) => hunkLines(out, hunk, layout))];
}

/** Prints two strings and marks the words that only one of them has. */
export function textDiffLines(out: Output, texts: DiffSides, sides: DiffSides): string[] {
  const layout = out.columns >= wideColumns ? sideBySide : unified;
  return [...layout.head(out, sides), ...layout.field(out, 'result', changedSpans(out, { path: [], ...texts }))];
}

/** One way to print a diff. */
interface Layout {
  readonly head: (out: Output, sides: DiffSides) => string[];
  readonly row: (out: Output, row: DiffRow) => string[];
  readonly field: (out: Output, path: string, spans: { readonly left: Span[]; readonly right: Span[] }) => string[];
}

function hunkLines(out: Output, { equalBefore, rows }: DiffHunk, layout: Layout): string[] {
  const lines = rows.flatMap((row) => [...layout.row(out, row), ...fieldLines(out, row, layout)]);
  return equalBefore === 0 ? lines : [out.dim(`  ⋯ ${plural(equalBefore, 'equal event')}`), ...lines];
}

const signs = { equal: ' ', changed: '~', onlyLeft: '-', onlyRight: '+' } as const;
const styles: Readonly<Record<DiffRow['kind'], Style>> = {
  equal: 'dim',
  changed: 'yellow',
  onlyLeft: 'red',
  onlyRight: 'green',
};

const half = (out: Output): number => Math.floor((out.columns - 5) / 2);

const sideBySide: Layout = {
  head: (out, { left, right }) => [
    out.bold(`${fit(plain(left), half(out))} │   ${cut(plain(right), half(out))}`.trimEnd()),
  ],
  row: (out, { kind, left, right }) => {
    const cell = (event: Event | undefined): string =>
      fit(event === undefined ? '' : eventText(event, half(out)), half(out));
    const [a, b] = [cell(left), cell(right)];
    const style = styles[kind];
    return [`${out.style(style, a)} ${out.dim('│')} ${out.style(style, `${signs[kind]} ${b.trimEnd()}`)}`.trimEnd()];
  },
  field: (out, path, spans) => {
    const indent = ' '.repeat(6);
    const width = half(out) - indent.length;
    const side = (list: Span[]): Span[][] => (list.length === 0 ? [] : foldSpans([labelOf(path), ...list], width));
    const [left, right] = [side(spans.left), side(spans.right)];
    const count = Math.max(left.length, right.length);
    const rows = Array.from({ length: Math.min(fieldLinesMax, count) }, (_, index) => {
      const [a, b] = [left[index] ?? [], right[index] ?? []];
      return `${indent}${spanLine(out, a, width)} ${out.dim('│')}   ${indent}${spanLine(out, b)}`.trimEnd();
    });
    return [...rows, ...moreLines(out, count, indent.length)];
  },
};

const unified: Layout = {
  head: (out, { left, right }) => [
    out.style('red', cut(plain(`--- ${left}`), out.tableColumns)),
    out.style('green', cut(plain(`+++ ${right}`), out.tableColumns)),
  ],
  row: (out, { kind, left, right }) => {
    const event = right ?? left;
    if (event === undefined) return [];
    const seqs = left === undefined || right === undefined ? String(event.seq) : `${left.seq}→${right.seq}`;
    const text = `${signs[kind]} ${out.cell(seqs, 7)} ${out.cell(event.type, out.columns >= roomyColumns ? 19 : 14)} ${detailOf(event)}`;
    return [out.style(styles[kind], cut(text, out.tableColumns))];
  },
  field: (out, path, { left, right }) => {
    const indent = ' '.repeat(4);
    const inline = foldSpans([labelOf(path), ...left, { text: ' → ' }, ...right], out.columns - indent.length);
    if (left.length > 0 && right.length > 0 && inline.length === 1) return [indent + spanLine(out, inline[0] ?? [])];
    const side = (sign: Span, list: Span[]): string[] => {
      const folded = list.length === 0 ? [] : foldSpans(list, out.columns - indent.length - 2);
      const lines = folded
        .slice(0, fieldLinesMax)
        .map((line) => `${indent}${spanLine(out, [sign])} ${spanLine(out, line)}`);
      return [...lines, ...moreLines(out, folded.length, indent.length + 2)];
    };
    return [
      `${indent}${out.dim(cut(`${path}:`, out.tableColumns - indent.length))}`,
      ...side({ text: '-', style: 'red' }, left),
      ...side({ text: '+', style: 'green' }, right),
    ].map((line) => line.trimEnd());
  },
};

const labelOf = (path: string): Span => ({ text: `${path}: `, style: 'dim' });

const fieldLinesMax = 8;

function moreLines(out: Output, count: number, indent: number): string[] {
  return count <= fieldLinesMax
    ? []
    : [out.dim(`${' '.repeat(indent)}… ${plural(count - fieldLinesMax, 'more line')}`)];
}

function eventText(event: Event, columns: number): string {
  const typeWidth = columns >= 80 ? 19 : 16;
  return `${fit(String(event.seq), 5, 'right')} ${fit(event.type, typeWidth)} ${detailOf(event)}`;
}

const fieldsMax = 6;

function fieldLines(out: Output, { fields }: DiffRow, layout: Layout): string[] {
  if (fields === undefined) return [];
  const { changed, removed, added } = fields;
  const differences = [
    ...changed.map((field) => ({ path: field.path, ...changedSpans(out, field) })),
    ...removed.map(({ path, value }) => ({ path, left: wholeSpan(out, 'left', value), right: [] })),
    ...added.map(({ path, value }) => ({ path, left: [], right: wholeSpan(out, 'right', value) })),
  ];
  const lines = differences
    .slice(0, fieldsMax)
    .flatMap(({ path, left, right }) => layout.field(out, plain(pathText(path)), { left, right }));
  const hidden = differences.length - fieldsMax;
  return hidden <= 0 ? lines : [...lines, out.dim(`    … ${plural(hidden, 'more field')}`)];
}

/** Marks the words that only one of two strings has; other values are marked as a whole. */
function changedSpans(out: Output, { left, right }: ChangedValue): { readonly left: Span[]; readonly right: Span[] } {
  if (typeof left !== 'string' || typeof right !== 'string') {
    return { left: wholeSpan(out, 'left', left), right: wholeSpan(out, 'right', right) };
  }
  const runs = nearDifferences(wordRuns(left, right));
  const side = (kind: 'left' | 'right'): Span[] =>
    runs
      .filter((run) => run.kind === 'same' || run.kind === kind)
      .map(({ kind: own, text }) => (own === 'same' ? { text } : marked(out, kind, text)));
  return { left: side('left'), right: side('right') };
}

function wholeSpan(out: Output, side: 'left' | 'right', value: JsonValue): Span[] {
  return [marked(out, side, short(value))];
}

/** Marks words that only one side has, with brackets where there are no colors. */
function marked(out: Output, side: 'left' | 'right', text: string): Span {
  if (out.hasColor) return { text, style: side === 'left' ? ['red', 'underline'] : ['green', 'underline'] };
  return { text: side === 'left' ? `[-${text}-]` : `{+${text}+}` };
}
