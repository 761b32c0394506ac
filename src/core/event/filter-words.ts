import { RepriseError } from '../error.ts';
import { given } from '../json.ts';
import { isoTime } from '../time.ts';
import { checkFilter, type EventFilter, type FieldPattern, parseFilter } from './filter.ts';

/** The words that select events: the options of `reprise replay`, and the filter bar of the studio. */
export interface FilterWords {
  /** Conditions on fields, as `parseFilter` reads them. */
  readonly filter?: string | undefined;
  /** Types, separated by commas. */
  readonly eventType?: string | undefined;
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
  readonly turn?: number | undefined;
  readonly kind?: string | undefined;
  readonly tool?: string | undefined;
  readonly outcome?: string | undefined;
  readonly search?: string | undefined;
  /** A time, or an age such as `2h`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly after?: number | undefined;
  readonly through?: number | undefined;
}

/** Returns the filter that words ask for; ages are counted back from `now`. */
export function filterFromWords(words: FilterWords, now: number): EventFilter {
  const { filter, eventType, agent, run, turn, kind, tool: name, outcome, search: text, after, through } = words;
  const types = eventType
    ?.split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
  const since = words.since === undefined ? undefined : timeFromWord(words.since, now);
  const until = words.until === undefined ? undefined : timeFromWord(words.until, now);
  return {
    ...(filter === undefined ? {} : parseFilter(filter)),
    ...given({ types, agent, run, turn, kind, name, outcome, text, since, until, after, through }),
  };
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Reads a time as people write it: ISO 8601, or how long before `now`, such as `15m` or `2h`. */
export function timeFromWord(text: string, now: number): string {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(now - Number(count) * (units[unit] ?? 0)).toISOString();
  try {
    return isoTime(text);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    const hint = 'Use an age such as 90s, 15m, 2h or 3d, or ISO 8601: 2026-11-15T10:00:00Z.';
    throw new RepriseError(error.code, error.message, { hint, details: error.details, cause: error });
  }
}

/** The names of words as they are typed, and the field of {@link FilterWords} that each fills. */
const textNames: Readonly<Record<string, keyof FilterWords>> = {
  type: 'eventType',
  'event-type': 'eventType',
  agent: 'agent',
  run: 'run',
  kind: 'kind',
  tool: 'tool',
  outcome: 'outcome',
  search: 'search',
  since: 'since',
  until: 'until',
};

const numberNames: ReadonlySet<string> = new Set(['turn', 'after', 'through']);

/** The names that a line of filter words may use; other names are fields of the event. */
export const filterWordNames: readonly string[] = [...Object.keys(textNames), ...numberNames].filter(
  (name) => name !== 'event-type',
);

/**
 * Reads a line of words such as `kind=tool outcome=error turn=4 since=2h "order 7"`. A word without a name is searched
 * for; `field=/pattern/` and names that no option has are conditions on a field of the event.
 */
export function readFilterText(text: string, now: number): EventFilter {
  const words: Record<string, string | number> = {};
  const [fields, searched]: [FieldPattern[], string[]] = [[], []];
  for (const { name, value } of splitWords(text)) {
    const known = name === undefined ? undefined : textNames[name];
    if (name === undefined) searched.push(value);
    else if (/^\/.+\/$/.test(value)) fields.push({ key: name, pattern: value.slice(1, -1) });
    else if (known !== undefined) words[known] = value;
    else if (numberNames.has(name)) words[name] = wholeNumber(name, value);
    else fields.push({ key: name, pattern: value });
  }
  if (searched.length > 0)
    words['search'] = [words['search'], ...searched].filter((word) => word !== undefined).join(' ');
  const filter = filterFromWords(words, now);
  return checkFilter(fields.length === 0 ? filter : { ...filter, fields });
}

function wholeNumber(name: string, value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new RepriseError('filter.invalid', `Cannot filter by ${name}: "${value}" is not a whole number`, {
    hint: `Write ${name}=12.`,
  });
}

/** One word of a line: with a name before its first `=`, or without. */
export interface FilterWord {
  readonly name?: string | undefined;
  readonly value: string;
}

/** Splits a line at spaces; quotes keep a word with spaces together. */
export function splitWords(text: string): FilterWord[] {
  const found = text.matchAll(/(?:([a-zA-Z][\w.-]*)=)?(?:"([^"]*)"?|(\/(?:[^/\\]|\\.)*\/)|([^\s"]+))/g);
  return [...found].map(([, name, quoted, pattern, bare]) => ({ name, value: quoted ?? pattern ?? bare ?? '' }));
}
