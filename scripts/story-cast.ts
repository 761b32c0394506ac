/** The story of `npm start` as it looks in a terminal: as plain text, and as a picture for the README. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

/** Where the cast is kept, from the root of the repository. */
export const storyTextPath = 'docs/story.txt';
/** Where its picture is kept. */
export const storyPicturePath = 'docs/story.svg';

const columns = 100;

/** The output of `npm start` on a terminal with colors. */
export function storyScreen(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-cast-'));
  const script = fileURLToPath(new URL('story.ts', import.meta.url));
  const file = join(folder, 'demo.db');
  const { NO_COLOR: _, ...own } = process.env;
  const env = { ...own, FORCE_COLOR: '1', COLUMNS: String(columns), npm_lifecycle_event: 'start', npm_command: 'run' };
  // One pipe for both streams, so that they come in the order in which a person sees them.
  const words = ['-c', 'exec "$0" "$1" --file "$2" 2>&1', process.execPath, script, file];
  const { status, stdout } = spawnSync('/bin/sh', words, { encoding: 'utf8', env });
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0) throw new Error(`The story went wrong: ${stdout}`);
  return stdout.replaceAll(`sqlite:${file}`, 'sqlite:.reprise/demo.db');
}

/** The screen as plain text. */
export function storyText(screen: string): string {
  const lines = stripVTControlCharacters(screen).split('\n');
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** A text without what differs from one telling to the next: clocks, digests, ids, sizes, and what they leave room for. */
export function steady(text: string): string {
  return (
    text
      .replaceAll(/\b[0-9a-f]{64}\b/g, 'DIGEST')
      .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID')
      .replaceAll(/\+\d+:\d\d\.\d/g, 'OFFSET')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
      .replaceAll(/\b\d+m \d\ds\b|\b\d+(?:\.\d+)?m?s\b/g, 'DURATION')
      .replaceAll(/\b\d+(?:\.\d+)? k?B\b/g, 'SIZE')
      // How much of the rest fits on the line depends on how long the duration is.
      .replaceAll(/(call\.ended .*DURATION).*$/gm, '$1')
      .replaceAll(/ +/g, ' ')
  );
}

const colours: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
};

interface Pen {
  readonly colour: string | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

const plainPen: Pen = { colour: undefined, isBold: false, isDim: false };

function penAfter(pen: Pen, code: number): Pen {
  if (code === 0) return plainPen;
  if (code === 1) return { ...pen, isBold: true };
  if (code === 2) return { ...pen, isDim: true };
  if (code === 22) return { ...pen, isBold: false, isDim: false };
  if (code === 39) return { ...pen, colour: undefined };
  return code in colours ? { ...pen, colour: colours[code] } : pen;
}

const lineHeight = 17;
const charWidth = 7.8;
const margin = 16;

/** The screen as a picture. */
export function storyPicture(screen: string): string {
  let pen = plainPen;
  const lines = screen.trimEnd().split('\n');
  const rows = lines.map((line, index) => {
    const spans: string[] = [];
    for (const piece of line.split(/(\u001b\[[\d;]*m)/)) {
      const codes = /^\u001b\[([\d;]*)m$/.exec(piece)?.[1];
      if (codes !== undefined) for (const code of codes.split(';')) pen = penAfter(pen, Number(code));
      else if (piece !== '') spans.push(spanOf(piece, pen));
    }
    return `<text x="${margin}" y="${margin + lineHeight * (index + 1)}">${spans.join('')}</text>`;
  });
  const width = Math.ceil(columns * charWidth) + 2 * margin;
  const height = lineHeight * (lines.length + 1) + 2 * margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="What npm start shows">
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`;
}

function spanOf(text: string, { colour, isBold, isDim }: Pen): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const look = [
    ...(colour === undefined ? [] : [`fill="${colour}"`]),
    ...(isBold ? ['font-weight="bold"'] : []),
    ...(isDim ? ['opacity="0.6"'] : []),
  ];
  return look.length === 0 ? escaped : `<tspan ${look.join(' ')}>${escaped}</tspan>`;
}
