import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { type EventFilter, parseFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import { isoTime } from '../../core/time.ts';
import { numberOption, type OptionValues, textOption } from '../option-values.ts';
import { wholeNumber } from './number-option.ts';

/** The options that select events. */
export const filterOptions: readonly Option[] = [
  new Option(
    '--filter <conditions>',
    'match fields of events, as field=regex pairs that must all match: "name=refund,outcome=error"',
  ),
  new Option('--event-type <types>', 'only these types, separated by commas'),
  new Option('--agent <agent>', "only this agent; '~text' matches part of its id"),
  new Option('--run <run>', 'only this run'),
  new Option('--task <task>', 'only this task, with everything that it led to'),
  new Option('--turn <n>', 'only this turn').argParser(wholeNumber),
  new Option('--kind <kind>', 'only calls of this kind: model, tool, http, mcp, process or person'),
  new Option('--tool <name>', 'only calls of this tool, model or address'),
  new Option('--outcome <outcome>', 'only this outcome: ok, error, aborted, interrupted, budget or waiting'),
  new Option('--search <text>', 'only events that contain this text, ignoring case'),
  new Option('--since <time>', 'only at or after this time: ISO 8601, or an age such as 90s, 15m, 2h, 3d'),
  new Option('--until <time>', 'only at or before this time'),
  new Option('--after <seq>', 'only seqs after this one').argParser(wholeNumber),
  new Option('--through <seq>', 'only seqs up to this one').argParser(wholeNumber),
];

/** Reads the filter options. */
export function filterOf(options: OptionValues): EventFilter {
  const text = (name: string): string | undefined => textOption(options, name);
  const number = (name: string): number | undefined => numberOption(options, name);
  const conditions = text('filter');
  const types = text('eventType')
    ?.split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
  return {
    ...(conditions === undefined ? {} : parseFilter(conditions)),
    ...given({
      types,
      agent: text('agent'),
      run: text('run'),
      turn: number('turn'),
      kind: text('kind'),
      name: text('tool'),
      outcome: text('outcome'),
      text: text('search'),
      since: timeOf(text('since')),
      until: timeOf(text('until')),
      after: number('after'),
      through: number('through'),
    }),
  };
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Reads a time as people write it: ISO 8601, or how long ago, such as `15m` or `2h`. */
export function timeOf(text: string | undefined, now: number = Date.now()): string | undefined {
  if (text === undefined) return undefined;
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
