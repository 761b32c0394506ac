import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { type EventFilter, parseFilter } from '../../core/event/filter.ts';
import { isoTime } from '../../core/time.ts';
import { wholeNumber } from './number-option.ts';

/** The options that choose events, for every command that reads them. */
export const filterOptions: readonly Option[] = [
  new Option('--filter <conditions>', 'field=regex pairs, comma apart, all must hold: "name=refund,outcome=error"'),
  new Option('--event-type <types>', 'only these types, comma apart'),
  new Option('--agent <agent>', "only this agent; '~text' for a part of its id"),
  new Option('--run <run>', 'only this run'),
  new Option('--turn <n>', 'only this turn').argParser(wholeNumber),
  new Option('--kind <kind>', 'only calls of a kind: model, tool, http, mcp, process, person'),
  new Option('--tool <name>', 'only calls of this tool, model or address'),
  new Option('--outcome <outcome>', 'only what ended so: ok, error, aborted, interrupted, budget'),
  new Option('--search <text>', 'only events that contain a text, whatever its case'),
  new Option('--since <time>', 'not before this time: ISO 8601, or 90s, 15m, 2h, 3d ago'),
  new Option('--until <time>', 'not after this time'),
  new Option('--after <seq>', 'seqs after this one').argParser(wholeNumber),
  new Option('--through <seq>', 'seqs up to this one').argParser(wholeNumber),
];

/** What the filter options ask for. */
export function filterOf(options: Readonly<Record<string, unknown>>): EventFilter {
  const given = (name: string): string | undefined => options[name] as string | undefined;
  const number = (name: string): number | undefined => options[name] as number | undefined;
  const conditions = given('filter');
  const types = given('eventType')
    ?.split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
  const found = {
    ...(conditions === undefined ? {} : parseFilter(conditions)),
    types,
    agent: given('agent'),
    run: given('run'),
    turn: number('turn'),
    kind: given('kind'),
    name: given('tool'),
    outcome: given('outcome'),
    text: given('search'),
    since: timeOf(given('since')),
    until: timeOf(given('until')),
    after: number('after'),
    through: number('through'),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as EventFilter;
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A time as a person writes it: ISO 8601, or how long ago, such as `15m` or `2h`. */
export function timeOf(text: string | undefined, now: number = Date.now()): string | undefined {
  const ago = text === undefined ? null : /^(\d{1,6})([smhdw])$/.exec(text);
  if (ago !== null) return new Date(now - Number(ago[1]) * (units[ago[2] as string] as number)).toISOString();
  if (text === undefined) return undefined;
  try {
    return isoTime(text);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
    const hint = 'Write how long ago it was, such as 90s, 15m, 2h or 3d, or ISO 8601: 2026-11-15T10:00:00Z.';
    throw new RepriseError(error.code, error.message, { hint, details: error.details, cause: error });
  }
}
