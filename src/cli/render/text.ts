const segmenter: Intl.Segmenter = new Intl.Segmenter();

// Escape sequences and control characters would let a payload move the cursor, recolour the screen or forge a prompt;
// bidirectional controls would let it turn what follows around.
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text on one line with nothing in it that a terminal would obey: controls are shown, not sent. */
export function plain(text: string): string {
  return text.replace(controls, (c) => {
    if (c === '\n') return '⏎';
    if (c === '\t') return ' ';
    const code = c.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '␡' : '�';
  });
}

/** Text over several lines with nothing in it that a terminal would obey. */
export function plainLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => plain(line.replaceAll('\t', '  ')));
}

/** How many columns text takes: two for wide characters and emoji, none for what joins the one before. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (/^\p{Mark}+$/u.test(grapheme)) return 0;
  return isWide(code) || /\p{Emoji_Presentation}/u.test(grapheme) ? 2 : 1;
}

const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe4f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
];

function isWide(code: number): boolean {
  return wideRanges.some(([from, to]) => code >= from && code <= to);
}

/** The text cut to a number of columns, with an ellipsis where something was cut off. */
export function cut(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (text.length <= columns && widthOf(text) <= columns) return text;
  let width = 0;
  let kept = '';
  for (const { segment } of segmenter.segment(text.slice(0, columns * 4))) {
    const next = graphemeWidth(segment);
    if (width + next > columns - 1) break;
    width += next;
    kept += segment;
  }
  return widthOf(text) <= columns ? text : `${kept}…`;
}

/** The text in exactly that many columns. */
export function fit(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const shown = cut(text, columns);
  const gap = ' '.repeat(Math.max(0, columns - widthOf(shown)));
  return align === 'left' ? shown + gap : gap + shown;
}

/** Text folded over lines of at most that many columns, between words where it can. */
export function fold(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const line of plainLines(text)) {
    let rest = line;
    while (widthOf(rest) > columns) {
      const head = cut(rest, columns + 1).replace(/…$/, '');
      const space = head.lastIndexOf(' ');
      const taken = space > columns / 2 ? head.slice(0, space) : head;
      lines.push(taken);
      rest = rest.slice(taken.length).trimStart();
    }
    lines.push(rest);
  }
  return lines;
}
