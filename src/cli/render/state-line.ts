import type { StateValue, StateVersion } from '../../engine/state/entry.ts';
import { cut, plain, widthOf } from '../../wording/text.ts';
import { jsonText } from '../terminal/json-text.ts';
import type { Output } from '../terminal/output.ts';

/** Prints a key and its value: `plan = {"next":"ask"}  v2 @8`. */
export function stateLine(out: Output, { key, value, version, seq, erased }: StateValue): string {
  const held = erased === true ? '(erased)' : jsonText(value);
  const end = `  v${version} @${seq}`;
  return `${cut(`${shownKey(key)} = ${held}`, Math.max(20, out.tableColumns - end.length))}${out.dim(end)}`;
}

/** Prints one version of a key: `v2  @8  2026-11-15T10:00:00.000Z  write  support  {"next":"ask"}`. */
export function versionLine(out: Output, held: StateVersion): string {
  const { version, seq, time, op, by, value, erased } = held;
  const what = erased === true ? 'erased' : (op ?? '');
  const isNarrow = out.columns < narrow;
  const shown = op === 'write' ? jsonText(value) : '';
  const cells = [`v${version}`, `@${seq}`, time, what.padEnd(6), plain(by ?? '-')];
  if (isNarrow)
    return cut([...cells.with(2, `${time.slice(11, 19)}Z`).with(3, what), shown].join(' '), out.tableColumns);
  const start = cells.join('  ');
  return `${out.dim(start)}  ${cut(shown, Math.max(20, out.tableColumns - widthOf(start) - 2))}`.trimEnd();
}

/** Below this many columns, the time of a version has no date. */
const narrow = 70;

/** Writes a key; the empty one as `""`, since it would be invisible. */
export function shownKey(key: string): string {
  return key === '' ? '""' : plain(key);
}
