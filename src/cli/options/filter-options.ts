import { Option } from 'commander';
import type { EventFilter } from '../../core/event/filter.ts';
import { filterFromWords, timeFromWord } from '../../core/event/filter-words.ts';
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
  const words = {
    filter: text('filter'),
    eventType: text('eventType'),
    agent: text('agent'),
    run: text('run'),
    turn: number('turn'),
    kind: text('kind'),
    tool: text('tool'),
    outcome: text('outcome'),
    search: text('search'),
    since: text('since'),
    until: text('until'),
    after: number('after'),
    through: number('through'),
  };
  return filterFromWords(words, Date.now());
}

/** Reads a time as people write it: ISO 8601, or how long ago, such as `15m` or `2h`. */
export function timeOf(text: string | undefined, now: number = Date.now()): string | undefined {
  return text === undefined ? undefined : timeFromWord(text, now);
}
