/** One hunk of a unified diff. */
interface Hunk {
  /** The first line of the old file that it is about, from 1; 0 for an empty file. */
  readonly from: number;
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
}

/** The lines of a file, each with its line break; null if there is no file. */
export type FileLines = readonly string[] | null;

/** The result of a patch: the new lines, null if the file is removed, or why it does not apply. */
type Patched = { readonly lines: FileLines } | { readonly fault: string };

/** A diff that changes who may run the file, and no line of it. */
const modeOnly = /^(?:diff --git [^\n]*\n)?old mode \d{6}\nnew mode \d{6}\n?$/;

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Applies a unified diff strictly: every context line and every removed line must be exactly where the diff says, with no
 * fuzz and no offset.
 */
export function applyDiff(lines: FileLines, diff: string): Patched {
  const read = hunksOf(diff);
  if ('fault' in read) return read;
  if (read.hunks.length === 0)
    return lines !== null && modeOnly.test(diff) ? { lines } : { fault: 'the diff has no hunk' };
  if (lines === null && read.hunks.some(({ oldLines }) => oldLines.length > 0))
    return { fault: 'the file does not exist, and the diff changes lines of it' };
  const old = lines ?? [];
  const result: string[] = [];
  let at = 0;
  for (const { from, oldLines, newLines } of read.hunks) {
    const start = oldLines.length === 0 ? from : from - 1;
    if (start < at || start > old.length)
      return { fault: `a hunk begins at line ${from}, which is out of order or beyond the end` };
    const differs = oldLines.findIndex((line, index) => old[start + index] !== line);
    if (differs >= 0) return { fault: `line ${start + differs + 1} is not what the diff expects` };
    for (let index = at; index < start; index++) result.push(old[index] ?? '');
    for (const line of newLines) result.push(line);
    at = start + oldLines.length;
  }
  for (let index = at; index < old.length; index++) result.push(old[index] ?? '');
  return { lines: read.removes && result.length === 0 ? null : result };
}

/** Returns the lines of a string, each with its line break; the last one may have none. */
export function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/).filter((line) => line !== '');
}

type Hunks = { readonly hunks: readonly Hunk[]; readonly removes: boolean } | { readonly fault: string };

function hunksOf(diff: string): Hunks {
  const lines = diff.split('\n');
  const hunks: Hunk[] = [];
  let removes = false;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (line.startsWith('+++ ')) removes = /^\+\+\+ \/dev\/null\b/.test(line);
    const head = hunkHead.exec(line);
    if (head === null) continue;
    const [oldCount, newCount] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
    const read = hunkAt(lines, index + 1, { from: Number(head[1]), oldCount, newCount });
    if ('fault' in read) return read;
    hunks.push(read.hunk);
    index = read.last;
  }
  return { hunks, removes };
}

interface HunkSize {
  readonly from: number;
  readonly oldCount: number;
  readonly newCount: number;
}

function hunkAt(
  lines: readonly string[],
  start: number,
  { from, oldCount, newCount }: HunkSize,
): { readonly hunk: Hunk; readonly last: number } | { readonly fault: string } {
  const [oldLines, newLines]: [string[], string[]] = [[], []];
  let index = start;
  for (; oldLines.length < oldCount || newLines.length < newCount; index++) {
    const line = lines[index];
    if (line === undefined || (line === '' && index === lines.length - 1))
      return { fault: 'the diff ends inside a hunk' };
    const text = `${line.slice(1)}\n`;
    if (line.startsWith('\\')) trimLast(lines[index - 1], oldLines, newLines);
    else if (line.startsWith('-')) oldLines.push(text);
    else if (line.startsWith('+')) newLines.push(text);
    else if (line.startsWith(' ') || line === '') {
      oldLines.push(text);
      newLines.push(text);
    } else return { fault: `the diff has a line that is not part of a hunk: ${JSON.stringify(line.slice(0, 80))}` };
  }
  if (lines[index]?.startsWith('\\') === true) {
    trimLast(lines[index - 1], oldLines, newLines);
    index++;
  }
  if (oldLines.length !== oldCount || newLines.length !== newCount)
    return { fault: 'a hunk has more lines than its head says' };
  return { hunk: { from, oldLines, newLines }, last: index - 1 };
}

/** Takes the line break off the line before `\ No newline at end of file`. */
function trimLast(line: string | undefined, oldLines: string[], newLines: string[]): void {
  const trim = (list: string[]): void => void list.push((list.pop() ?? '').replace(/\n$/, ''));
  if (line?.startsWith('+') !== true) trim(oldLines);
  if (line?.startsWith('-') !== true) trim(newLines);
}

/** Returns how many files a unified diff changes. Lines inside hunks do not count. */
export function filesInDiff(diff: string): number {
  const lines = diff.split('\n');
  let [files, left] = [0, { old: 0, new: 0 }];
  for (const line of lines) {
    const head = hunkHead.exec(line);
    if (left.old > 0 || left.new > 0) {
      if (!line.startsWith('+')) left.old -= line.startsWith('\\') ? 0 : 1;
      if (!line.startsWith('-')) left.new -= line.startsWith('\\') ? 0 : 1;
    } else if (head !== null) left = { old: Number(head[2] ?? 1), new: Number(head[4] ?? 1) };
    else if (line.startsWith('+++ ')) files += 1;
  }
  return files;
}
