import '../look/tree.css';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { countText, durationText, priceText } from '../../../src/wording/amount.ts';
import { runAddress } from '../address/address.ts';
import { refOf, useStudio } from '../frame/studio.ts';
import { useActions } from '../keys/actions.ts';
import { Icon } from '../look/icon.tsx';
import { lookOfRun } from '../look/outcome-look.ts';
import { useCell } from '../parts/cell.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import { Failure, Nothing } from '../parts/states.tsx';
import { useThrottled } from '../parts/use-throttled.ts';
import { useWidth } from '../parts/use-width.ts';
import { useNow } from '../runs/use-now.ts';
import type { StudioBranch } from '../source/answers.ts';
import { branchLines } from './branch-lines.ts';
import { DeleteBranchDialog } from './delete-branch.tsx';
import { useBranches } from './use-branches.ts';

const rowHeight = 32;
/** How often the branches of a session that grows are read again. */
const newsMs = 2_000;
const orders = ['tree', 'created', 'outcome', 'cost'] as const;

/** The branches of a session as rows on one axis of seqs: a line leaves its parent where it was forked. */
export function TreeScreen({
  session,
  branch,
}: {
  readonly session: string;
  readonly branch: string | undefined;
}): React.ReactNode {
  const studio = useStudio();
  const { bar } = studio;
  const { value, error, again } = useBranches(session, useThrottled(useNewsOf(session), newsMs));
  const [order, setOrder] = useState<(typeof orders)[number]>('tree');
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(0);
  useEffect(() => studio.show([], true), [studio]);
  const rows = useMemo(
    () => sorted(filtered(value ?? [], text, order === 'tree' ? folded : new Set()), order),
    [value, text, order, folded],
  );
  useEffect(() => {
    const own = rows.findIndex((row) => row.branch === branch);
    if (own >= 0) setAt(own);
  }, [value]);
  const open = (row: StudioBranch): void => bar.go(runAddress(session, row.branch, row.head || 'head'));
  const toggle = (name: string): void => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    setChosen(next);
  };
  const compare = (): void => {
    const [first, ...others] = rows.filter((row) => chosen.has(row.branch));
    if (first !== undefined)
      bar.go(
        runAddress(session, first.branch, first.head, {
          with: others.map((row) => refOf({ session, branch: row.branch, seq: row.head })),
        }),
      );
  };
  const row = rows[at];
  const { admin } = useCell(studio.rights);
  const isLeaf =
    row !== undefined && row.parent !== null && !(value ?? []).some((each) => each.parent?.branch === row.branch);
  const [deleted, setDeleted] = useState<StudioBranch>();
  useActions([
    {
      id: 'down',
      name: 'Next branch',
      keys: ['J', 'ArrowDown'],
      group: 'Move',
      run: () => setAt(Math.min(rows.length - 1, at + 1)),
    },
    { id: 'up', name: 'Branch before', keys: ['K', 'ArrowUp'], group: 'Move', run: () => setAt(Math.max(0, at - 1)) },
    {
      id: 'open',
      name: 'Open the branch',
      keys: ['Enter'],
      group: 'Go',
      run: row === undefined ? undefined : () => open(row),
    },
    {
      id: 'choose',
      name: 'Choose for a comparison',
      keys: ['X', 'Space'],
      group: 'Look',
      run: row === undefined ? undefined : () => toggle(row.branch),
    },
    {
      id: 'fold',
      name: 'Fold or open what grows from it',
      keys: ['ArrowLeft', 'ArrowRight'],
      group: 'Look',
      run: row === undefined ? undefined : () => setFolded(flipped(folded, row.branch)),
    },
    {
      id: 'compare',
      name: 'Compare the chosen',
      keys: ['C'],
      group: 'Go',
      run: chosen.size >= 2 && chosen.size <= 8 ? compare : undefined,
    },
    {
      id: 'delete',
      name: 'Delete the branch',
      keys: ['Delete'],
      group: 'Change',
      run: admin && isLeaf ? () => setDeleted(row) : undefined,
    },
  ]);
  return (
    <div className="screen tree-screen">
      <header className="screen-head">
        <h1>Branches</h1>
        <span className="faint">
          {value === undefined ? '' : `${countText(rows.length)} of ${countText(value.length)}`}
        </span>
        <input
          className="field"
          aria-label="Filter branches"
          placeholder="a name or an outcome"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <span className="modes" role="group" aria-label="Sort by">
          <span className="label">sort by</span>
          {orders.map((each) => (
            <button
              key={each}
              type="button"
              className="quiet"
              aria-pressed={each === order}
              onClick={() => setOrder(each)}
            >
              {each}
            </button>
          ))}
        </span>
        <span className="spacer" />
        {admin && isLeaf ? (
          <button type="button" className="button" data-part="delete" onClick={() => setDeleted(row)}>
            Delete <RecordedText text={row.branch} />… <kbd className="key">Delete</kbd>
          </button>
        ) : null}
        {chosen.size === 0 ? null : (
          <button type="button" className="button" disabled={chosen.size < 2 || chosen.size > 8} onClick={compare}>
            Compare {chosen.size} <kbd className="key">C</kbd>
          </button>
        )}
      </header>
      {error === undefined ? null : <Failure error={error} onAgain={again} />}
      {value !== undefined && rows.length === 0 ? <Nothing>No branch matches.</Nothing> : null}
      {rows.length === 0 ? null : (
        <TreeGrid
          rows={rows}
          all={value ?? []}
          at={at}
          chosen={chosen}
          folded={folded}
          onAt={setAt}
          onOpen={open}
          onToggle={toggle}
          isTree={order === 'tree' && text === ''}
        />
      )}
      {deleted === undefined ? null : (
        <DeleteBranchDialog
          session={session}
          row={deleted}
          onClose={() => setDeleted(undefined)}
          onDone={() => {
            setDeleted(undefined);
            again();
          }}
        />
      )}
    </div>
  );
}

/** Counts the news of a session: events on any branch of it, and its runs. */
function useNewsOf(session: string): number {
  const { source } = useStudio();
  const [count, setCount] = useState(0);
  useEffect(
    () =>
      source.onNews((news) => {
        const of = news.kind === 'session' ? news.row.session : news.kind === 'run' ? news.run.session : undefined;
        if (of === session) setCount((old) => old + 1);
      }),
    [source, session],
  );
  return count;
}

/** Returns an edit in few words; new settings say by themselves what they are. */
const editText = (edit: string): string =>
  edit.replace(/^(settings\.changed {2}|event\.)/, '').replace(/^(\w+)\.(\w+)/, '$1 $2');

function flipped(set: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(name)) next.add(name);
  return next;
}

function filtered(
  branches: readonly StudioBranch[],
  text: string,
  folded: ReadonlySet<string>,
): readonly StudioBranch[] {
  const hidden = new Set<string>();
  return branches.filter(({ branch, parent, outcome, reason }) => {
    if (parent !== null && (folded.has(parent.branch) || hidden.has(parent.branch))) hidden.add(branch);
    if (hidden.has(branch)) return false;
    return `${branch} ${outcome ?? ''} ${reason ?? ''}`.toLowerCase().includes(text.toLowerCase());
  });
}

function sorted(rows: readonly StudioBranch[], order: (typeof orders)[number]): readonly StudioBranch[] {
  if (order === 'tree') return rows;
  const by: Record<Exclude<typeof order, 'tree'>, (row: StudioBranch) => string | number> = {
    created: (row) => row.createdAt,
    outcome: (row) => row.outcome ?? '~',
    cost: (row) => -(row.usage.cost ?? -1),
  };
  return rows.toSorted((a, b) => (by[order](a) < by[order](b) ? -1 : by[order](a) > by[order](b) ? 1 : 0));
}

interface GridProps {
  readonly rows: readonly StudioBranch[];
  readonly all: readonly StudioBranch[];
  readonly at: number;
  readonly chosen: ReadonlySet<string>;
  readonly folded: ReadonlySet<string>;
  readonly isTree: boolean;
  readonly onAt: (at: number) => void;
  readonly onOpen: (row: StudioBranch) => void;
  readonly onToggle: (branch: string) => void;
}

function TreeGrid({ rows, all, at, chosen, folded, isTree, onAt, onOpen, onToggle }: GridProps): React.ReactNode {
  const now = useNow(rows.some(({ outcome }) => outcome === 'silent'));
  const box = useRef<HTMLDivElement>(null);
  const [axis, width] = useWidth<HTMLDivElement>();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const last = Math.max(1, ...all.map(({ head }) => head));
  const lines = useMemo(() => branchLines(rows, last), [rows, last]);
  useEffect(() => virtual.scrollToIndex(at, { align: 'auto' }), [at]);
  const parents = new Set(all.flatMap(({ parent }) => (parent === null ? [] : [parent.branch])));
  return (
    <div
      className="tree-box"
      ref={box}
      role="treegrid"
      aria-label="Branches"
      aria-rowcount={rows.length}
      tabIndex={0}
      data-part="tree"
    >
      <div className="tree-head" role="row">
        <span role="columnheader" className="unseen">
          Chosen
        </span>
        <span role="columnheader">Branch</span>
        <span role="columnheader" ref={axis} className="tree-axis">
          <span>event 1</span>
          <span>{countText(last)}</span>
        </span>
        <span role="columnheader">Outcome</span>
        <span role="columnheader" className="number">
          Events
        </span>
        <span role="columnheader" className="number">
          Took
        </span>
        <span role="columnheader" className="number">
          Cost
        </span>
      </div>
      <div className="tree-all" style={{ height: virtual.getTotalSize() }} role="presentation">
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          const line = lines[item.index];
          if (row === undefined || line === undefined) return null;
          const outcome = lookOfRun(row, now);
          return (
            <div
              key={row.branch}
              role="row"
              className="tree-row"
              aria-level={row.depth + 1}
              aria-rowindex={item.index + 1}
              aria-selected={item.index === at}
              aria-expanded={parents.has(row.branch) ? !folded.has(row.branch) : undefined}
              style={{ transform: `translateY(${item.start}px)`, height: rowHeight }}
              onClick={() => onOpen(row)}
              onPointerEnter={() => onAt(item.index)}
            >
              <span role="gridcell">
                <input
                  type="checkbox"
                  aria-label={`Choose ${row.branch}`}
                  checked={chosen.has(row.branch)}
                  onClick={(event) => event.stopPropagation()}
                  onChange={() => onToggle(row.branch)}
                />
              </span>
              <span role="gridcell" className="tree-name" title={row.reason ?? undefined}>
                <span className="tree-indent" data-depth={isTree ? Math.min(row.depth, 6) : 0} />
                {row.depth > 0 ? (
                  <span className="color-person">
                    <Icon name="fork" />
                  </span>
                ) : null}{' '}
                <RecordedText text={row.branch} />
                {row.reason === null ? null : (
                  <span className="faint tree-reason">
                    <RecordedText text={row.reason} />
                  </span>
                )}
              </span>
              <span role="gridcell">
                <svg className="tree-line" width={width} height={rowHeight} aria-hidden="true">
                  {isTree && line.parentRow !== undefined ? (
                    <path
                      className="tree-fork"
                      d={`M${line.from * width} ${-(item.index - line.parentRow - 0.5) * rowHeight} V${rowHeight / 2}`}
                    />
                  ) : null}
                  <path
                    className={`tree-stroke tree-${outcome.hue}`}
                    d={`M${line.from * width} ${rowHeight / 2} H${Math.max(line.to * width, line.from * width + 3)}`}
                  />
                  {row.edits.length === 0 ? null : (
                    <circle className="tree-edit" cx={line.from * width + 6} cy={rowHeight / 2} r="4" />
                  )}
                </svg>
                {row.edits.length === 0 ? null : (
                  <span
                    className="chip tree-chip"
                    ref={(element) =>
                      element?.style.setProperty(
                        'left',
                        `${Math.min(line.from * width + 14, Math.max(0, width - 240))}px`,
                      )
                    }
                  >
                    ✎ {row.edits.length === 1 ? editText(row.edits[0] ?? '') : `${row.edits.length} edits`}
                  </span>
                )}
              </span>
              <span role="gridcell" className={`color-${outcome.hue}`}>
                {outcome.glyph} {outcome.word}
              </span>
              <span role="gridcell" className="number">
                {countText(row.events)}
              </span>
              <span role="gridcell" className="number">
                {row.durationMs === null ? '–' : durationText(row.durationMs)}
              </span>
              <span role="gridcell" className="number">
                {priceText(row.usage, '–').replace('?', 'no price')}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
