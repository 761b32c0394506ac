import type { StateValue, StateVersion } from '../../engine/state-entry.ts';
import type { Output } from '../output.ts';
import { jsonText } from './json-text.ts';
import { cut, plain } from './text.ts';

/** A key and what it holds: `plan = {"next":"ask"}  v2 @8`. */
export function stateLine(out: Output, { key, value, version, seq, erased }: StateValue): string {
  const held = erased === true ? '(erased)' : jsonText(value);
  const end = `  v${version} @${seq}`;
  return `${cut(`${plain(key)} = ${held}`, Math.max(20, out.columns - end.length))}${out.dim(end)}`;
}

/** One version of a key: `v2  @8  2026-11-15T10:00:00.000Z  write  support  {"next":"ask"}`. */
export function versionLine(out: Output, held: StateVersion): string {
  const { version, seq, time, op, by, value, erased } = held;
  const what = erased === true ? 'erased' : (op ?? '');
  const start = [`v${version}`, `@${seq}`, time, what.padEnd(6), plain(by ?? '-')].join('  ');
  const shown = op === 'write' ? cut(jsonText(value), Math.max(20, out.columns - start.length - 2)) : '';
  return `${out.dim(start)}  ${shown}`.trimEnd();
}
