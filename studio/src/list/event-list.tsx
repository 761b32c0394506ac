import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useMemo, useRef } from 'react';
import { countText, durationText, plural } from '../../../src/wording/amount.ts';
import type { EventIndex } from '../history/event-index.ts';
import { lookOf, lookOfOutcome } from '../look/glyphs.ts';
import { useCell } from '../parts/cell.ts';
import { RecordedText } from '../parts/recorded-text.tsx';
import type { Gists } from './gists.ts';
import { depthsOf, type Fold, type ListRows, rowOfSeq } from './list-rows.ts';

/** The properties of the list. */
export interface EventListProps {
  readonly index: EventIndex;
  readonly version: number;
  readonly rows: ListRows;
  readonly gists: Gists;
  readonly selected: number;
  readonly pinned: number | undefined;
  readonly differs?: ReadonlySet<number> | undefined;
  readonly rowHeight: number;
  readonly onSelect: (seq: number) => void;
  readonly onHover: (seq: number | undefined) => void;
  readonly onFold: (fold: Fold) => void;
  readonly label: string;
}

/** Every event of a history in a list. Only the rows on screen exist. */
export function EventList(props: EventListProps): React.ReactNode {
  const { index, version, rows, gists, selected, rowHeight } = props;
  const box = useRef<HTMLDivElement>(null);
  useCell(gists.version);
  const depths = useMemo(() => depthsOf(index), [index, version]);
  const virtual = useVirtualizer({
    count: rows.rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const seqs = shown.map((item) => rows.rows[item.index] ?? 0).filter((seq) => seq > 0 && index.has(seq));
  useEffect(() => gists.want(seqs));
  const at = rowOfSeq(rows, selected);
  // The list becomes lower when the strip above it grows: what is selected stays on screen.
  const height = virtual.scrollRect?.height ?? 0;
  const before = useRef(0);
  useEffect(() => {
    // While rows come in around it, the selected one stays in the middle.
    if (at >= 0) virtual.scrollToIndex(at, { align: before.current === selected ? 'center' : 'auto' });
    before.current = selected;
  }, [at, selected, rowHeight, height]);
  return (
    <div
      ref={box}
      className="list"
      role="listbox"
      tabIndex={0}
      aria-label={props.label}
      aria-activedescendant={at >= 0 ? `row-${rows.rows[at]}` : undefined}
      data-part="list"
      onPointerLeave={() => props.onHover(undefined)}
    >
      <div className="list-all" style={{ height: virtual.getTotalSize() }}>
        {shown.map((item) => {
          const seq = rows.rows[item.index] ?? 0;
          const place = { top: item.start, height: rowHeight, at: item.index + 1, of: rows.rows.length };
          const fold = seq < 0 ? rows.folds.get(-seq) : undefined;
          if (fold !== undefined)
            return (
              <FoldRow key={item.key} fold={fold} place={place} isSelected={item.index === at} onFold={props.onFold} />
            );
          return (
            <EventRow
              key={item.key}
              index={index}
              version={version}
              seq={seq}
              depth={depths[seq] ?? 0}
              line={gists.line(seq)}
              place={place}
              isSelected={seq === selected}
              isPinned={seq === props.pinned}
              isHollow={!index.isInView(seq)}
              differs={props.differs?.has(seq) === true}
              onSelect={props.onSelect}
              onHover={props.onHover}
            />
          );
        })}
      </div>
    </div>
  );
}

interface Place {
  readonly top: number;
  readonly height: number;
  readonly at: number;
  readonly of: number;
}

interface RowProps {
  readonly index: EventIndex;
  readonly version: number;
  readonly seq: number;
  readonly depth: number;
  readonly line: string | undefined;
  readonly place: Place;
  readonly isSelected: boolean;
  readonly isPinned: boolean;
  /** Whether it left the view. */
  readonly isHollow: boolean;
  readonly differs: boolean;
  readonly onSelect: (seq: number) => void;
  readonly onHover: (seq: number | undefined) => void;
}

const EventRow = memo(
  function EventRow({
    index,
    seq,
    depth,
    line,
    place,
    isSelected,
    isPinned,
    isHollow,
    differs,
    onSelect,
    onHover,
  }: RowProps): React.ReactNode {
    const look = lookOf(index.word('type', seq), index.word('kind', seq));
    return (
      <div
        id={`row-${seq}`}
        role="option"
        tabIndex={-1}
        aria-selected={isSelected}
        aria-setsize={place.of}
        aria-posinset={place.at}
        className="row"
        data-seq={seq}
        data-hollow={(isHollow && !index.hasFlag(seq, 'marker')) || undefined}
        data-marker={index.hasFlag(seq, 'marker') || undefined}
        data-pinned={isPinned || undefined}
        data-differs={differs || undefined}
        data-error={index.isError(seq) || undefined}
        style={{ transform: `translateY(${place.top}px)`, height: place.height }}
        onClick={() => onSelect(seq)}
        onPointerEnter={() => onHover(seq)}
      >
        <span className="row-seq">{seq}</span>
        <span className="row-indent" data-depth={depth} />
        <span className={`row-glyph color-${look.hue}`} aria-hidden="true">
          {index.hasFlag(seq, 'erased') ? '▒' : look.glyph}
        </span>
        <span className="unseen">{look.word}</span>
        <span className="row-words">
          <span className="row-name">{rowName(index, seq)}</span>
          {line === undefined ? null : (
            <span className="row-line">
              <RecordedText text={shortLine(line, rowName(index, seq), index.word('outcome', seq))} />
            </span>
          )}
        </span>
        <RowEnd index={index} seq={seq} />
      </div>
    );
  },
  (a, b) =>
    a.seq === b.seq &&
    a.line === b.line &&
    a.isSelected === b.isSelected &&
    a.isPinned === b.isPinned &&
    a.isHollow === b.isHollow &&
    a.differs === b.differs &&
    a.depth === b.depth &&
    a.place.top === b.place.top &&
    a.place.height === b.place.height &&
    a.place.of === b.place.of &&
    (a.version === b.version || a.line !== undefined),
);

/** Returns the name of a row: of a call what was called, else the type in words. */
export function rowName(index: EventIndex, seq: number): string {
  const type = index.word('type', seq);
  const name = index.word('name', seq);
  if (type.startsWith('call.') || type === 'message.added') return name === '' ? type : name;
  return type.replace('.', ' ');
}

/** Returns a line without what is next to it already: the name, the outcome, tokens, cost and time. */
export function shortLine(line: string, name: string, outcome: string): string {
  const pieces = line.split('  ').filter((piece) => piece !== name && piece !== `model ${name}` && !known.test(piece));
  const [first = '', ...rest] = pieces;
  const said = outcome === 'error' && first.startsWith('error: ') ? 'error' : name;
  return [first.startsWith(`${said}: `) ? first.slice(said.length + 2) : first, ...rest].join('  ').replace(/⏎+/g, ' ');
}

const known =
  /^(?:ok|error|aborted|interrupted|budget|waiting|simulated|reused|\([a-z]+\)|[\d,]+ tok|[<$?][\d.$<]*|[\d.]+m?s|\d+m \d\ds|\d+h \d\dm)$/;

function RowEnd({ index, seq }: { readonly index: EventIndex; readonly seq: number }): React.ReactNode {
  const outcome = index.word('outcome', seq);
  const took = index.number('latencyMs', seq);
  const effect = index.word('effect', seq);
  const end = lookOfOutcome(outcome);
  return (
    <span className="row-end">
      {effect === 'irreversible' ? (
        <span className="color-warning" title="irreversible">
          ⚠
        </span>
      ) : null}
      {took === undefined || took < 1 ? null : <span className="faint">{durationText(took)}</span>}
      {index.hasFlag(seq, 'reused') ? <span className="chip">reused</span> : null}
      {index.hasFlag(seq, 'simulated') ? <span className="chip">simulated</span> : null}
      {outcome === '' ? null : (
        <span className={`color-${end.hue}`} title={end.word}>
          {end.glyph} {end.hue === 'ok' || end.hue === 'error' ? '' : end.word}
        </span>
      )}
    </span>
  );
}

/** Says an event aloud: its point, what it is, how it ended, how long it took. */
export function spokenRow(index: EventIndex, seq: number, line?: string): string {
  const look = lookOf(index.word('type', seq), index.word('kind', seq));
  const took = index.number('latencyMs', seq);
  const isEnd = index.word('type', seq) === 'call.ended';
  return [
    `${seq}`,
    isEnd ? `end of ${look.word}` : look.word,
    rowName(index, seq),
    index.word('outcome', seq),
    took === undefined ? '' : durationText(took),
    (line ?? '').slice(0, 120),
  ]
    .filter((word) => word !== '')
    .join(', ');
}

function FoldRow({
  fold,
  place,
  isSelected,
  onFold,
}: {
  readonly fold: Fold;
  readonly place: Place;
  readonly isSelected: boolean;
  readonly onFold: (fold: Fold) => void;
}): React.ReactNode {
  const words =
    fold.why === 'noise'
      ? `${plural(fold.count, 'like event')} folded`
      : `${plural(fold.count, 'event')} taken out of the view`;
  return (
    <div
      id={`row-${-fold.from}`}
      role="option"
      tabIndex={-1}
      aria-selected={isSelected}
      aria-setsize={place.of}
      aria-posinset={place.at}
      className="row row-fold"
      style={{ transform: `translateY(${place.top}px)`, height: place.height }}
      onClick={() => onFold(fold)}
    >
      <span className="row-seq">{countText(fold.from)}</span>
      <span className="row-indent" data-depth={0} />
      <span className="row-glyph">⋯</span>
      <span className="row-words">{words}</span>
    </div>
  );
}
