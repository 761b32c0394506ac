import { isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../../core/json.ts';
import type { BasePoint, SourceBase } from '../../../core/recording/foreign-format.ts';
import { firstLines, readJson } from '../pieces/first-lines.ts';

/**
 * How a rollout continues a different one. `history_base` in its first line names the file of that one by the id in
 * its name, and the ordinal and the bytes up to which its lines come first.
 */
export const codexBase: SourceBase = {
  pointOf: ({ text }) => pointOf(objectAt(metaOf(text), 'history_base')),
  beside: (path) => {
    const [, home] =
      /^(.*)[/\\](?:sessions[/\\]\d{4}[/\\]\d\d[/\\]\d\d|archived_sessions)[/\\][^/\\]*$/.exec(path) ?? [];
    if (home !== undefined) return [`${home}/sessions`, `${home}/archived_sessions`];
    const folder = path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')));
    return [folder === '' ? '.' : folder];
  },
  idOf: ({ path, text }) => {
    const [, id] = /rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([^/\\]+)\.jsonl$/.exec(path) ?? [];
    return id ?? (text === undefined ? undefined : stringAt(metaOf(text), 'id'));
  },
  joined: (lines) => numbered(withoutBases(lines)),
};

function pointOf(base: JsonObject | undefined): BasePoint | undefined {
  const source = stringAt(base, 'thread_id');
  const [ordinal, bytes] = [numberAt(base, 'end_ordinal_exclusive'), numberAt(base, 'end_byte_offset')];
  if (source === undefined || (ordinal === undefined && bytes === undefined)) return undefined;
  return {
    source,
    sideOf: ({ value, to }) => {
      // The bytes of a line change when it is masked or written again; its ordinal does not.
      const own = numberAt(value, 'ordinal');
      const [at, end] = own === undefined || ordinal === undefined ? [to, bytes ?? 0] : [own + 1, ordinal];
      if (at === end) return 'last';
      return at < end ? 'before' : 'after';
    },
  };
}

/** Returns the lines of bases and of a rollout as one rollout: under its own first line, which names no base. */
function withoutBases(lines: readonly string[]): readonly string[] {
  const metas = lines.map(metaIn);
  const last = metas.findLastIndex((meta) => meta?.['history_base'] !== undefined);
  const own = Math.max(last, 0);
  const [first, meta] = [lines[own], metas[own]];
  if (first === undefined || meta === undefined) return lines;
  const { history_base: _, ...whole } = meta;
  return [withMeta(first, whole), ...lines.filter((__, at) => at !== own && (at > own || metas[at] === undefined))];
}

/** Returns lines with the ordinals that Codex expects, one after the other, if the first of them has one. */
export function numbered(lines: readonly string[]): readonly string[] {
  const [first = ''] = lines;
  const isNumbered = numberAt(readJson(first), 'ordinal') !== undefined;
  const from = numberAt(objectAt(metaIn(first), 'history_base'), 'end_ordinal_exclusive') ?? 0;
  if (!isNumbered) return lines;
  return lines.map((line, index) => {
    const held = readJson(line);
    return isObject(held) && held['ordinal'] !== from + index
      ? JSON.stringify({ ...held, ordinal: from + index })
      : line;
  });
}

/** Returns the facts of a rollout in a line; undefined if the line has none. */
export function metaIn(line: string): JsonObject | undefined {
  if (!line.includes('session_meta')) return undefined;
  const held = readJson(line);
  return stringAt(held, 'type') === 'session_meta' ? objectAt(held, 'payload') : undefined;
}

/** Returns a line with other facts of its rollout. */
export function withMeta(line: string, meta: JsonObject): string {
  const held = readJson(line);
  return JSON.stringify({ ...(isObject(held) ? held : {}), payload: meta });
}

/** Returns the facts of a rollout at its beginning. */
export function metaOf(text: string): JsonObject | undefined {
  const line = firstLines(text).find((each) => isObject(each) && each['type'] === 'session_meta');
  return objectAt(line, 'payload');
}
