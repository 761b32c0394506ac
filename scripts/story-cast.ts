/** Writes down what `npm start` shows in a terminal: all of it as plain text, and one screen as a picture for the README. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

/** The file of the text, from the root of the repository. */
export const storyTextPath = 'docs/story.txt';
/** The file of the picture. */
export const storyPicturePath = 'docs/story.svg';

const columns = 100;

/** Returns what `npm start` prints to a terminal with colors, before it opens the studio. */
export function storyScreen(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-cast-'));
  const script = fileURLToPath(new URL('story.ts', import.meta.url));
  const file = join(folder, 'demo.db');
  const { NO_COLOR: _, ...own } = process.env;
  const env = { ...own, FORCE_COLOR: '1', COLUMNS: String(columns), npm_lifecycle_event: 'start', npm_command: 'run' };
  // One pipe for both streams keeps the order in which a person sees them.
  const words = ['-c', 'exec "$0" "$1" --no-studio --file "$2" 2>&1', process.execPath, script, file];
  const { status, stdout } = spawnSync('/bin/sh', words, { encoding: 'utf8', env });
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0) throw new Error(`The story went wrong: ${stdout}`);
  return stdout.replaceAll(`sqlite:${file}`, 'sqlite:.reprise/demo.db');
}

/** Returns the screen as plain text. */
export function storyText(screen: string): string {
  const lines = stripVTControlCharacters(screen).split('\n');
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Replaces everything that differs from run to run: clocks, digests, ids, sizes, and text cut off because of them. */
export function steady(text: string): string {
  return (
    text
      .replaceAll(/\b[0-9a-f]{64}\b/g, 'DIGEST')
      .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID')
      .replaceAll(/\+\d+:\d\d\.\d/g, 'OFFSET')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
      .replaceAll(/\b\d+m \d\ds\b|\b\d+(?:\.\d+)?m?s\b/g, 'DURATION')
      .replaceAll(/\b\d+(?:\.\d+)? k?B\b/g, 'SIZE')
      // The length of the duration decides how much of the rest fits on the line.
      .replaceAll(/(call\.ended .*DURATION).*$/gm, '$1')
      .replaceAll(/ +/g, ' ')
  );
}

const colors: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
};

interface Pen {
  readonly color: string | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

const plainPen: Pen = { color: undefined, isBold: false, isDim: false };

function penAfter(pen: Pen, code: number): Pen {
  if (code === 0) return plainPen;
  if (code === 1) return { ...pen, isBold: true };
  if (code === 2) return { ...pen, isDim: true };
  if (code === 22) return { ...pen, isBold: false, isDim: false };
  if (code === 39) return { ...pen, color: undefined };
  return code in colors ? { ...pen, color: colors[code] } : pen;
}

/** The lines of the story that the picture shows: one screen. Each entry takes some lines from where it first matches. */
const scenes: readonly { readonly from: RegExp; readonly lines: number; readonly isApart?: boolean }[] = [
  { from: /^customer /, lines: 2 },
  { from: / refunded 500, which /, lines: 1 },
  { from: /^\$ reprise fork /, lines: 2, isApart: true },
  { from: /^\$ reprise resume /, lines: 2 },
  { from: /^I refunded 50\./, lines: 1 },
  { from: /^\$ reprise diff /, lines: 4, isApart: true },
  { from: /^~ .* call\.started +refund /, lines: 2, isApart: true },
  { from: /^~ .* call\.ended +refund /, lines: 2 },
  { from: /^~ .* run\.ended /, lines: 2 },
  { from: /^\$ reprise verify /, lines: 2, isApart: true },
];

const lineHeight = 17;
const charWidth = 7.8;
const margin = 16;
const wrapIndent = 4;

/** One character of the screen, and how it looks. */
interface Cell {
  readonly char: string;
  readonly pen: Pen;
}

/**
 * Draws one screen of the story. Every run of words is at the x of its own column, so that the columns stay aligned in
 * a renderer that collapses spaces or has a font of a different width.
 */
export function storyPicture(screen: string): string {
  const rows = scenesOf(screen).flatMap((line) => wrapped(cellsOf(line)));
  const width = Math.ceil(columns * charWidth) + 2 * margin;
  const height = lineHeight * rows.length + 2 * margin;
  const texts = rows.map((row, index) => `<text y="${margin + lineHeight * (index + 1) - 4}">${spansOf(row)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="What npm start shows">
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${texts.join('\n')}
</svg>
`;
}

/** Returns the lines of the picture. Throws when the story no longer has one of them. */
function scenesOf(screen: string): string[] {
  const lines = screen.trimEnd().split('\n');
  const plain = lines.map((line) => stripVTControlCharacters(line));
  return scenes.flatMap(({ from, lines: count, isApart }) => {
    const first = plain.findIndex((line) => from.test(line));
    if (first < 0) throw new Error(`The story has no line that matches ${String(from)}: change the picture's scenes`);
    return [...(isApart ? [''] : []), ...lines.slice(first, first + count)];
  });
}

function cellsOf(line: string): Cell[] {
  let pen = plainPen;
  return line.split(/(\u001b\[[\d;]*m)/).flatMap((piece) => {
    const codes = /^\u001b\[([\d;]*)m$/.exec(piece)?.[1];
    if (codes === undefined) return [...piece].map((char) => ({ char, pen }));
    for (const code of codes.split(';')) pen = penAfter(pen, Number(code));
    return [];
  });
}

/** Breaks a line that is wider than the screen at a space; what follows is indented. */
function wrapped(cells: readonly Cell[]): (readonly Cell[])[] {
  if (cells.length <= columns) return [cells];
  const space = cells.slice(0, columns).findLastIndex(({ char }) => char === ' ');
  const end = space > wrapIndent ? space : columns;
  const indent = Array.from({ length: wrapIndent }, () => ({ char: ' ', pen: plainPen }));
  const rest = cells.slice(end).filter(({ char }, index) => index > 0 || char !== ' ');
  return [cells.slice(0, end), ...wrapped([...indent, ...rest])];
}

/** Cuts a row where the look changes and at two or more spaces. */
function spansOf(row: readonly Cell[]): string {
  const spans: { text: string; column: number; pen: Pen }[] = [];
  let spaces = 2;
  for (const [column, { char, pen }] of row.entries()) {
    if (char === ' ') {
      spaces++;
      continue;
    }
    const last = spans.at(-1);
    if (last !== undefined && last.pen === pen && spaces < 2) last.text += `${' '.repeat(spaces)}${char}`;
    else spans.push({ text: char, column, pen });
    spaces = 0;
  }
  return spans.map(spanOf).join(' ');
}

function spanOf({ text, column, pen: { color, isBold, isDim } }: { text: string; column: number; pen: Pen }): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const look = [
    `x="${Math.round((margin + column * charWidth) * 10) / 10}"`,
    ...(color === undefined ? [] : [`fill="${color}"`]),
    ...(isBold ? ['font-weight="bold"'] : []),
    ...(isDim ? ['fill-opacity="0.6"'] : []),
  ];
  return `<tspan ${look.join(' ')}>${escaped}</tspan>`;
}
