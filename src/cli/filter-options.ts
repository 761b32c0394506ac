import { Option } from 'commander';
import { type EventFilter, parseFilter } from '../core/filter.ts';

/** The options that choose events, for every command that reads them. */
export const filterOptions: readonly Option[] = [
  new Option('--filter <conditions>', 'field=regex pairs, comma apart, all must hold: "name=refund,outcome=error"'),
  new Option('--event-type <types>', 'only these types, comma apart'),
  new Option('--agent <agent>', "only this agent; '~text' for a part of its id"),
  new Option('--run <run>', 'only this run'),
  new Option('--turn <n>', 'only this turn'),
  new Option('--kind <kind>', 'only calls of a kind: model, tool, http, mcp, process, person'),
  new Option('--tool <name>', 'only calls of this tool, model or address'),
  new Option('--outcome <outcome>', 'only what ended so: ok, error, aborted, interrupted, budget'),
  new Option('--search <text>', 'only events that contain a text, whatever its case'),
  new Option('--since <time>', 'not before this time'),
  new Option('--until <time>', 'not after this time'),
  new Option('--after <seq>', 'seqs after this one'),
  new Option('--through <seq>', 'seqs up to this one'),
];

/** What the filter options ask for. */
export function filterOf(options: Readonly<Record<string, unknown>>): EventFilter {
  const given = (name: string): string | undefined => options[name] as string | undefined;
  const parsed = given('filter') === undefined ? {} : parseFilter(given('filter') as string);
  return {
    ...parsed,
    ...optional('types', given('eventType')?.split(',').map((type) => type.trim())),
    ...optional('agent', given('agent')),
    ...optional('run', given('run')),
    ...optional('turn', number(given('turn'))),
    ...optional('kind', given('kind')),
    ...optional('name', given('tool')),
    ...optional('outcome', given('outcome')),
    ...optional('text', given('search')),
    ...optional('since', given('since')),
    ...optional('until', given('until')),
    ...optional('after', number(given('after'))),
    ...optional('through', number(given('through'))),
  };
}

function optional<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}

const number = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
