import { RepriseError } from './error.ts';
import { shownValue } from './known-keys.ts';

const isoPattern = /^[+-]?\d{4,6}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;
const exactPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Returns a time as `2026-11-15T10:00:00.123Z`; accepts any ISO 8601 form and takes one without a zone as UTC. */
export function isoTime(value: string): string {
  if (typeof value !== 'string') return refuse(value);
  if (exactPattern.test(value) && isDay(value) && !Number.isNaN(Date.parse(value))) return value;
  const zoned = /T/.test(value) && !/(Z|[+-]\d{2}:\d{2})$/.test(value) ? `${value}Z` : value;
  const ms = isoPattern.test(value) && isDay(value) ? Date.parse(zoned) : Number.NaN;
  const text = Number.isNaN(ms) ? '' : new Date(ms).toISOString();
  return exactPattern.test(text) ? text : refuse(value);
}

function refuse(value: unknown): never {
  throw new RepriseError('time.invalid', `Cannot read ${shownValue(value)} as a time`, {
    hint: 'Write it as ISO 8601, for example 2026-11-15T10:00:00Z, in the years 0000 to 9999.',
  });
}

/** Returns a time as {@link isoTime} does; undefined if the text is not a time. */
export function readTime(value: string): string | undefined {
  try {
    return isoTime(value);
  } catch {
    return undefined;
  }
}

/** Returns whether the day is in the calendar: `Date.parse` takes February 30 for March 2. */
function isDay(value: string): boolean {
  const [, year = '', month = '', day = ''] = /^([+-]?\d+)-(\d{2})-(\d{2})/.exec(value) ?? [];
  return Number(day) <= 28 || new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate() >= Number(day);
}

/** Returns the milliseconds between two times in the form of {@link isoTime}. */
export function msBetween(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}
