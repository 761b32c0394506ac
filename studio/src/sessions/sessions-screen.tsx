import { lazy, useEffect, useMemo, useRef, useState } from 'react';
import { countText, durationText, plural, priceText } from '../../../src/wording/amount.ts';
import { runAddress } from '../address/address.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import { keySign, useActions } from '../keys/actions.ts';
import type { Look } from '../look/glyphs.ts';
import { lookOfRun } from '../look/outcome-look.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Failure, Nothing, Reading } from '../parts/states.tsx';
import { shortCount } from '../run/run-head.tsx';
import { useNow } from '../runs/use-now.ts';
import type { SessionRow } from '../source/answers.ts';
import { agoText } from './ago-text.ts';
import { readOrder, type SessionColumn, type SessionOrder, sortSessions, withOrder } from './session-order.ts';
import { Spark } from './spark.tsx';
import { useSessions } from './use-sessions.ts';

const FirstRun = lazy(async () => ({ default: (await import('./first-run.tsx')).FirstRun }));
const Peek = lazy(async () => ({ default: (await import('./peek.tsx')).Peek }));

/** Sessions as a table that answers at a glance. */
export function SessionsScreen({ query }: { readonly query: string }): React.ReactNode {
  const studio = useStudio();
  const { bar } = studio;
  const list = useSessions(query);
  const { fresh, isLoading, error } = list;
  const order = useMemo(() => readOrder(query), [query]);
  const rows = useOrdered(list.rows, order);
  const [at, setAt] = useState(0);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [peeked, setPeeked] = useState<string>();
  const [isBeginning, setBeginning] = useState(false);
  const isFirst = error === undefined && !isLoading && rows.length === 0 && query === '';
  useEffect(() => studio.show([], true), [studio]);
  // A list without rows has nothing that could move.
  useEffect(() => {
    if (isFirst && fresh.length > 0) list.take();
  }, [isFirst, fresh]);
  const row = rows[Math.min(at, rows.length - 1)];
  const open = (target: SessionRow): void =>
    bar.go(runAddress(target.session, target.branch, target.activity.firstError ?? (target.head || 'head')));
  const compare = (): void => {
    const picked = rows.filter(({ session }) => chosen.has(session));
    const [first, ...others] = picked;
    if (first !== undefined)
      bar.go(
        runAddress(first.session, first.branch, first.head, {
          with: others.map(({ session, branch, head }) => refOf({ session, branch, seq: head })),
        }),
      );
  };
  const toggle = (session: string): void => {
    const next = new Set(chosen);
    if (!next.delete(session)) next.add(session);
    setChosen(next);
  };
  useActions([
    {
      id: 'down',
      name: 'Next session',
      keys: ['J', 'ArrowDown'],
      group: 'Move',
      run: () => setAt(Math.min(rows.length - 1, at + 1)),
    },
    { id: 'up', name: 'Session before', keys: ['K', 'ArrowUp'], group: 'Move', run: () => setAt(Math.max(0, at - 1)) },
    {
      id: 'open',
      name: 'Open the session',
      keys: ['Enter', 'ArrowRight'],
      group: 'Go',
      run: row === undefined ? undefined : () => open(row),
    },
    {
      id: 'peek',
      name: 'Peek',
      keys: ['Space'],
      group: 'Look',
      run: row === undefined ? undefined : () => setPeeked(peeked === row.session ? undefined : row.session),
    },
    {
      id: 'choose',
      name: 'Choose for a comparison',
      keys: ['X'],
      group: 'Look',
      run: row === undefined ? undefined : () => toggle(row.session),
    },
    {
      id: 'compare',
      name: 'Compare the chosen',
      keys: ['C'],
      group: 'Go',
      run: chosen.size >= 2 && chosen.size <= 8 ? compare : undefined,
    },
    {
      id: 'filter',
      name: 'Filter the sessions',
      keys: ['/'],
      group: 'Look',
      run: () => document.querySelector<HTMLElement>('[data-part=session-filter]')?.focus(),
    },
  ]);
  if (isBeginning || (isFirst && fresh.length === 0)) return <FirstRun onBeginning={setBeginning} />;
  return (
    <div className="screen sessions">
      <header className="screen-head">
        <h1>Sessions</h1>
        <SessionFilterField query={query} onQuery={(text) => bar.go({ screen: 'sessions', query: text })} />
        <span className="faint">
          {list.rows.length === 0
            ? ''
            : list.hasMore
              ? `the first ${list.rows.length} sessions`
              : plural(list.rows.length, 'session')}
        </span>
        <span className="spacer" />
        <span className="bottom-keys faint">
          open <kbd className="key">{keySign('Enter')}</kbd>
          peek <kbd className="key">Space</kbd>
          choose <kbd className="key">X</kbd>
        </span>
        {chosen.size > 0 ? (
          <button type="button" className="button" disabled={chosen.size < 2 || chosen.size > 8} onClick={compare}>
            Compare {chosen.size} <kbd className="key">C</kbd>
          </button>
        ) : null}
      </header>
      {error === undefined ? null : <Failure error={error} onAgain={list.again} />}
      {isLoading && rows.length === 0 ? <Reading /> : null}
      {fresh.length === 0 || isLoading ? null : (
        <button type="button" className="fresh" onClick={list.take}>
          {fresh.length} new
        </button>
      )}
      {rows.length === 0 && !isLoading && error === undefined ? (
        <Nothing>No session matches. {query === '' ? '' : 'Clear the filter to see all of them.'}</Nothing>
      ) : null}
      {rows.length === 0 ? null : (
        <SessionTable
          rows={rows}
          at={at}
          chosen={chosen}
          order={order}
          onAt={setAt}
          onOpen={open}
          onToggle={toggle}
          onSort={(by) => bar.go({ screen: 'sessions', query: withOrder(query, by) })}
        />
      )}
      {list.hasMore ? (
        <button type="button" className="button sessions-more" onClick={list.more}>
          More sessions{order === undefined ? '' : ': only these are sorted'}
        </button>
      ) : null}
      {peeked === undefined || row === undefined ? null : (
        <Peek
          row={rows.find(({ session }) => session === peeked) ?? row}
          onClose={() => setPeeked(undefined)}
          onOpen={open}
        />
      )}
    </div>
  );
}

function SessionFilterField({
  query,
  onQuery,
}: {
  readonly query: string;
  readonly onQuery: (text: string) => void;
}): React.ReactNode {
  const [text, setText] = useState(query);
  useEffect(() => setText(query), [query]);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (text !== query) onQuery(text);
    }, 250);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      className="field sessions-filter"
      aria-label="Filter sessions"
      placeholder="agent=support outcome=error since=2h, or words"
      spellCheck={false}
      data-part="session-filter"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        if (text === '') event.currentTarget.blur();
        setText('');
        event.stopPropagation();
        event.preventDefault();
      }}
    />
  );
}

/** Sorts the sessions that are there. Rows that change stay where they are until the order, or what is listed, changes. */
function useOrdered(rows: readonly SessionRow[], order: SessionOrder | undefined): readonly SessionRow[] {
  const ids = rows.map(({ session }) => session).join('\n');
  const sorted = useMemo(
    () => (order === undefined ? undefined : sortSessions(rows, order).map(({ session }) => session)),
    [ids, order],
  );
  if (sorted === undefined) return rows;
  const byId = new Map(rows.map((row) => [row.session, row]));
  return sorted.flatMap((session) => byId.get(session) ?? []);
}

interface TableProps {
  readonly rows: readonly SessionRow[];
  readonly at: number;
  readonly chosen: ReadonlySet<string>;
  readonly order: SessionOrder | undefined;
  readonly onAt: (at: number) => void;
  readonly onOpen: (row: SessionRow) => void;
  readonly onToggle: (session: string) => void;
  readonly onSort: (by: SessionColumn) => void;
}

/** A head of a column that sorts by it. */
function SortHead({
  by,
  isNumber = false,
  order,
  onSort,
  children,
}: Pick<TableProps, 'order' | 'onSort'> & {
  readonly by: SessionColumn;
  readonly isNumber?: boolean;
  readonly children: string;
}): React.ReactNode {
  const isOwn = order?.by === by;
  return (
    <th
      scope="col"
      className={isNumber ? 'number' : undefined}
      aria-sort={isOwn ? (order.isDown ? 'descending' : 'ascending') : undefined}
    >
      <button type="button" className="sort-head" onClick={() => onSort(by)}>
        {children}
        {isOwn ? (order.isDown ? ' ↓' : ' ↑') : ''}
      </button>
    </th>
  );
}

function SessionTable(props: TableProps): React.ReactNode {
  const { rows, at, chosen, order, onAt, onOpen, onToggle, onSort } = props;
  const now = useNow(rows.some(({ outcome }) => outcome === 'silent'));
  const body = useRef<HTMLTableSectionElement>(null);
  const sort = { order, onSort };
  useEffect(() => {
    body.current?.querySelector('[data-at]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  return (
    <div className="table-box">
      <table className="table" data-part="sessions">
        <thead>
          <tr>
            <th scope="col">
              <span className="unseen">Chosen</span>
            </th>
            <SortHead by="outcome" {...sort}>
              Outcome
            </SortHead>
            <SortHead by="title" {...sort}>
              Title
            </SortHead>
            <th scope="col">Agents</th>
            <SortHead by="started" {...sort}>
              Started
            </SortHead>
            <SortHead by="took" isNumber {...sort}>
              Took
            </SortHead>
            <SortHead by="turns" isNumber {...sort}>
              Turns
            </SortHead>
            <SortHead by="tokens" isNumber {...sort}>
              Tokens
            </SortHead>
            <SortHead by="cost" isNumber {...sort}>
              Cost
            </SortHead>
            <SortHead by="branches" isNumber {...sort}>
              Branches
            </SortHead>
            <th scope="col">Activity</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, index) => (
            <tr
              key={row.session}
              data-at={index === at || undefined}
              onClick={() => onOpen(row)}
              onPointerEnter={() => onAt(index)}
            >
              <td>
                <input
                  type="checkbox"
                  aria-label={`Choose ${row.session}`}
                  checked={chosen.has(row.session)}
                  onClick={(event) => event.stopPropagation()}
                  onChange={() => onToggle(row.session)}
                />
              </td>
              <td>
                <OutcomeCell row={row} now={now} />
              </td>
              <td className="table-title">
                <a
                  href={`/s/${encodeURIComponent(row.session)}/${encodeURIComponent(row.branch)}@${row.activity.firstError ?? row.head}`}
                  onClick={(event) => {
                    event.preventDefault();
                    event.stopPropagation();
                    onOpen(row);
                  }}
                >
                  <RecordedText text={row.title ?? row.session} />
                </a>
                {row.title === null ? null : (
                  <span className="faint mono table-id">
                    <RecordedText text={row.session} />
                  </span>
                )}
                {row.error === null ? null : (
                  <span className="color-error table-error" title={row.error.message}>
                    <RecordedText text={row.error.message} />
                  </span>
                )}
              </td>
              <td className="dim">
                {row.agents.slice(0, 3).join(', ')}
                {row.agents.length > 3 ? ` +${row.agents.length - 3}` : ''}
              </td>
              <td className="dim" title={row.startedAt ?? ''}>
                {row.startedAt === null ? '–' : agoText(Date.parse(row.startedAt), now)}
              </td>
              <td className="number">
                {row.durationMs === null || row.outcome === null ? '–' : durationText(row.durationMs)}
              </td>
              <td className="number">{countText(row.turns)}</td>
              <td
                className="number"
                title={`${countText(row.usage.inputTokens)} in, ${countText(row.usage.outputTokens)} out`}
              >
                {row.usage.inputTokens + row.usage.outputTokens === 0
                  ? '–'
                  : shortCount(row.usage.inputTokens + row.usage.outputTokens)}
              </td>
              <td
                className="number"
                title={
                  row.usage.unpricedCalls > 0
                    ? `${plural(row.usage.unpricedCalls, 'call')} without a known price`
                    : undefined
                }
              >
                {priceText(row.usage, '–').replace('?', 'no price')}
              </td>
              <td className="number">{countText(row.branches)}</td>
              <td>
                <Spark activity={row.activity} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function OutcomeCell({ row, now }: { readonly row: SessionRow; readonly now: number }): React.ReactNode {
  const errors = row.activity.errors.reduce((sum, count) => sum + count, 0);
  const look: Look = row.error === null ? lookOfRun(row, now) : { glyph: '✕', hue: 'error', word: 'unreadable' };
  return (
    <span className={`color-${look.hue}`}>
      {look.glyph === '●' ? <span className="pulse" aria-hidden="true" /> : look.glyph} {look.word}
      {errors === 0 || look.hue === 'error' ? null : <span className="color-error"> {plural(errors, 'error')}</span>}
      {row.waiting.length > 0 && row.outcome !== 'waiting' ? (
        <span className="color-person"> ☺ {row.waiting.length}</span>
      ) : null}
    </span>
  );
}
