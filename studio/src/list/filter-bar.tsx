import { useEffect, useId, useMemo, useRef, useState } from 'react';
import { filterWordNames } from '../../../src/core/event/filter-words.ts';
import { countText } from '../../../src/wording/amount.ts';
import type { EventIndex } from '../history/event-index.ts';
import { Icon } from '../look/icon.tsx';
import type { Filtered } from './use-filter.ts';

/** The properties of the bar. */
export interface FilterBarProps {
  readonly index: EventIndex;
  readonly version: number;
  readonly text: string;
  readonly filtered: Filtered;
  readonly matched: number;
  readonly total: number;
  readonly onText: (text: string) => void;
}

/** The filter bar: the words of `reprise replay`, with suggestions of what the history has. */
export function FilterBar({ index, version, text, filtered, matched, total, onText }: FilterBarProps): React.ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(text);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const id = useId();
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    const later = setTimeout(() => {
      if (typed !== text) onText(typed);
    }, 150);
    return () => clearTimeout(later);
  }, [typed]);
  const suggestions = useMemo(() => suggestionsFor(typed, index), [typed, index, version]);
  const take = (suggestion: string): void => {
    setTyped(`${typed.replace(/\S*$/, '')}${suggestion}${suggestion.endsWith('=') ? '' : ' '}`);
    setChosen(-1);
    input.current?.focus();
  };
  const onKey = (event: React.KeyboardEvent): void => {
    if (event.key === 'Escape') {
      if (isOpen && suggestions.length > 0) setOpen(false);
      else if (typed !== '') setTyped('');
      else input.current?.blur();
    } else if (event.key === 'ArrowDown') setChosen(Math.min(suggestions.length - 1, chosen + 1));
    else if (event.key === 'ArrowUp') setChosen(Math.max(-1, chosen - 1));
    else if (event.key === 'Enter') {
      const picked = suggestions[chosen];
      if (isOpen && picked !== undefined) take(picked);
      else {
        onText(typed);
        setOpen(false);
      }
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isShown = isOpen && suggestions.length > 0;
  return (
    <div className="filter">
      <span className="filter-sign" aria-hidden="true">
        <Icon name="find" />
      </span>
      <input
        ref={input}
        className="filter-input"
        type="text"
        role="combobox"
        aria-expanded={isShown}
        aria-controls={id}
        aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
        aria-label="Filter events"
        aria-invalid={filtered.error !== undefined}
        placeholder="kind=tool outcome=error, or words"
        spellCheck={false}
        autoComplete="off"
        data-part="filter"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setOpen(true);
          setChosen(-1);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKey}
      />
      <span className="filter-count" aria-live="polite">
        {filtered.error !== undefined
          ? ''
          : typed === ''
            ? total > 0 && countText(total)
            : `${countText(matched)} of ${countText(total)}${filtered.isSearching ? '…' : ''}`}
      </span>
      {typed === '' ? null : (
        <button type="button" className="quiet" aria-label="Clear the filter" onClick={() => setTyped('')}>
          ✕
        </button>
      )}
      {filtered.error === undefined ? null : (
        <p className="filter-error" role="alert">
          {filtered.error.message}. {filtered.error.hint}
        </p>
      )}
      <ul id={id} className="float suggestions" role="listbox" aria-label="Suggestions" hidden={!isShown}>
        {isShown
          ? suggestions.map((suggestion, at) => (
              <li
                key={suggestion}
                id={`${id}-${at}`}
                role="option"
                aria-selected={at === chosen}
                onPointerDown={(event) => {
                  event.preventDefault();
                  take(suggestion);
                }}
              >
                {suggestion}
              </li>
            ))
          : null}
      </ul>
    </div>
  );
}

const columns: Readonly<Record<string, Parameters<EventIndex['words']>[0]>> = {
  type: 'type',
  agent: 'agent',
  run: 'run',
  kind: 'kind',
  tool: 'name',
  outcome: 'outcome',
};

const shownMax = 12;

/** Returns how the last word of a line may continue: names of words, or values that the history has. */
export function suggestionsFor(text: string, index: EventIndex): readonly string[] {
  const last = /\S*$/.exec(text)?.[0] ?? '';
  const [name = '', value] = last.split('=', 2);
  if (value === undefined) return filterWordNames.filter((word) => word.startsWith(name)).map((word) => `${word}=`);
  const column = columns[name];
  if (column === undefined) return [];
  return index
    .words(column)
    .filter((word) => word.toLowerCase().includes(value.toLowerCase()) && word !== value)
    .slice(0, shownMax)
    .map((word) => `${name}=${/\s/.test(word) ? `"${word}"` : word}`);
}
