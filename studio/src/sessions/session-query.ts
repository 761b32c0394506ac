import { splitWords, timeFromWord } from '../../../src/core/event/filter-words.ts';
import { given } from '../../../src/core/json.ts';
import type { SessionFilter } from '../source/answers.ts';

/** Reads the filter words of the list of sessions: `agent=support outcome=error since=2h refund`. The word `sort` does not filter. */
export function readSessionQuery(text: string, now: number): SessionFilter {
  const named: Record<string, string> = {};
  const bare: string[] = [];
  for (const { name, value } of splitWords(text)) {
    if (name === undefined) bare.push(value);
    else if (/^(?:agent|outcome|since|until)$/.test(name)) named[name] = value;
    else if (name !== 'sort') bare.push(`${name}=${value}`);
  }
  const time = (name: string): string | undefined =>
    named[name] === undefined ? undefined : timeFromWord(named[name], now);
  return given({
    text: bare.length === 0 ? undefined : bare.join(' '),
    agent: named['agent'],
    outcome: named['outcome'] === 'running' ? 'silent' : named['outcome'],
    since: time('since'),
    until: time('until'),
  });
}
