import { pathText, type StateDiff } from '../../core/diff-state.ts';
import type { Event } from '../../core/event.ts';
import type { JsonValue } from '../../core/json.ts';
import type { Output } from '../output.ts';
import { detailOf, short } from './event-detail.ts';
import { cut, fit, plain } from './text.ts';
import { wordRuns } from './word-diff.ts';

/** One line of a diff: what the left has, what the right has, and in which fields they differ. */
export interface DiffLine {
  readonly kind: 'equal' | 'changed' | 'onlyLeft' | 'onlyRight';
  readonly left?: Event;
  readonly right?: Event;
  readonly fields?: StateDiff;
}

const wideColumns = 120;

/** A diff for a person: side by side where there is room, one below the other where there is not. */
export function diffLines(out: Output, lines: readonly DiffLine[]): string[] {
  return out.columns >= wideColumns ? lines.flatMap((line) => sideBySide(out, line)) : lines.flatMap((line) => unified(out, line));
}

const signs = { equal: ' ', changed: '~', onlyLeft: '-', onlyRight: '+' } as const;

function sideBySide(out: Output, line: DiffLine): string[] {
  const half = Math.floor((out.columns - 5) / 2);
  const cell = (event: Event | undefined): string => fit(event === undefined ? '' : `${String(event.seq).padStart(5)} ${fit(event.type, 16)} ${detailOf(event)}`, half);
  const left = colour(out, line.kind === 'onlyLeft' ? 'left' : line.kind, cell(line.left));
  const right = colour(out, line.kind === 'onlyRight' ? 'right' : line.kind, cell(line.right));
  return [`${left} ${out.dim('│')} ${signs[line.kind]} ${right}`.trimEnd(), ...fieldLines(out, line, '        ')];
}

function unified(out: Output, line: DiffLine): string[] {
  const event = (line.right ?? line.left) as Event;
  const seqs = line.kind === 'changed' || line.kind === 'equal' ? `${line.left?.seq ?? ''}→${line.right?.seq ?? ''}` : String(event.seq);
  const text = cut(`${signs[line.kind]} ${fit(seqs, 9)} ${fit(event.type, 16)} ${detailOf(event)}`, out.columns);
  const side = line.kind === 'onlyLeft' ? 'left' : line.kind === 'onlyRight' ? 'right' : line.kind;
  return [colour(out, side, text), ...fieldLines(out, line, '      ')];
}

function colour(out: Output, side: 'left' | 'right' | 'equal' | 'changed' | 'onlyLeft' | 'onlyRight', text: string): string {
  if (side === 'left') return out.style('red', text);
  if (side === 'right') return out.style('green', text);
  if (side === 'changed') return out.style('yellow', text);
  return side === 'equal' ? out.dim(text) : text;
}

const fieldsMax = 8;

function fieldLines(out: Output, { fields }: DiffLine, indent: string): string[] {
  if (fields === undefined) return [];
  const lines = [
    ...fields.changed.map(({ path, left, right }) => `${indent}${plain(pathText(path))}: ${values(out, left, right)}`),
    ...fields.removed.map(({ path, value }) => out.style('red', `${indent}- ${plain(pathText(path))}: ${plain(short(value))}`)),
    ...fields.added.map(({ path, value }) => out.style('green', `${indent}+ ${plain(pathText(path))}: ${plain(short(value))}`)),
  ];
  return lines.length <= fieldsMax ? lines : [...lines.slice(0, fieldsMax), out.dim(`${indent}… ${lines.length - fieldsMax} more fields`)];
}

/** Two texts as one, with the words that went and those that came marked; other values one after the other. */
function values(out: Output, left: JsonValue, right: JsonValue): string {
  if (typeof left !== 'string' || typeof right !== 'string') return `${out.style('red', plain(short(left)))} → ${out.style('green', plain(short(right)))}`;
  return wordRuns(left, right)
    .map(({ kind, text }) => (kind === 'same' ? plain(text) : out.style(kind === 'left' ? ['red', 'strikethrough'] : ['green', 'underline'], mark(kind, plain(text), out.isTerminal))))
    .join('');
}

/** Without colours, marks must say which words are whose. */
function mark(kind: 'left' | 'right', text: string, isTerminal: boolean): string {
  if (isTerminal) return text;
  return kind === 'left' ? `[-${text}-]` : `{+${text}+}`;
}
