import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { offsetText } from '../../wording/amount.ts';
import { detailOf } from '../../wording/event-gist.ts';
import { cut, fit, plain, widthOf } from '../../wording/text.ts';
import type { Output, Style } from '../terminal/output.ts';
import { outcomeStyle } from './outcome-style.ts';

/** The extent of a history, from which the column widths are known before the last row is read. */
export interface TableRange {
  /** When the history started; times are offsets from there. */
  readonly startedAt: string | null;
  readonly lastAt: string | null;
  /** The last seq. */
  readonly seq: number;
}

interface Column {
  readonly title: string;
  readonly width: number;
  readonly align?: 'right';
  readonly text: (event: Event) => string;
  readonly style?: (event: Event) => Style | undefined;
}

const narrowColumns = 60;
const wideColumns = 110;

/** Prints events as the rows of a table, one at a time. */
export class EventTable {
  readonly #out: Output;
  readonly #columns: readonly Column[];
  readonly #detailWidth: number;

  constructor(out: Output, range: TableRange) {
    this.#out = out;
    this.#columns = columnsFor(out.columns, range);
    const left = this.#columns.reduce((sum, column) => sum + column.width + 2, 0);
    this.#detailWidth = Math.max(4, out.columns - left);
  }

  /** Returns the line of titles. */
  head(): string {
    const titles = this.#columns.map(({ title, width, align }) => fit(title, width, align));
    return this.#out.bold([...titles, 'DETAIL'].join('  '));
  }

  /** Returns one row. */
  line(event: Event): string {
    const cells = this.#columns.map(({ text, width, align, style }) => {
      const shown = fit(plain(text(event)), width, align);
      const wanted = style?.(event);
      return wanted === undefined ? shown : this.#out.style(wanted, shown);
    });
    const detail = cut(detailOf(event), this.#detailWidth);
    const wanted = detailStyle(event);
    return [...cells, wanted === undefined ? detail : this.#out.style(wanted, detail)].join('  ').trimEnd();
  }
}

function columnsFor(columns: number, { startedAt, lastAt, seq }: TableRange): readonly Column[] {
  const isWide = columns >= wideColumns;
  const offset = (time: string): string => (startedAt === null ? '' : offsetText(startedAt, time, isWide ? 3 : 1));
  const timeWidth = Math.max(isWide ? 9 : 7, lastAt === null ? 0 : widthOf(offset(lastAt)));
  const seqs: Column = {
    title: 'SEQ',
    width: Math.max(3, String(seq).length),
    align: 'right',
    text: (event) => String(event.seq),
    style: () => 'dim',
  };
  const types: Column = {
    title: 'EVENT',
    width: isWide ? 20 : columns >= narrowColumns ? 16 : 13,
    text: (event) => event.type,
    style: kindStyle,
  };
  if (columns < narrowColumns) return [seqs, types];
  return [
    seqs,
    {
      title: 'TIME',
      width: timeWidth,
      align: 'right',
      text: (event) => within(offset(event.time), timeWidth),
      style: () => 'dim',
    },
    types,
    { title: 'AGENT', width: isWide ? 14 : 8, text: (event) => event.agent ?? '' },
    { title: isWide ? 'TURN/TASK' : 'TURN', width: isWide ? 10 : 6, text: turnText },
  ];
}

/** Drops the fraction of an offset that does not fit: a marker may be much later than the rest. */
const within = (offset: string, width: number): string =>
  offset.length > width ? offset.replace(/\.\d+$/, '') : offset;

/** Returns the turn, and the task if the event has one: `3 t-17`. */
function turnText({ turn, data }: Event): string {
  const task = data['task'];
  return typeof task === 'string' ? `${turn} ${task}` : String(turn);
}

/** Returns the color of an event by its kind. */
export function kindStyle({ type, data }: Pick<Event, 'type' | 'data'>): Style | undefined {
  if (isStructural(type)) return 'magenta';
  switch (type.slice(0, type.indexOf('.'))) {
    case 'run':
    case 'turn':
      return 'bold';
    case 'call':
      return data['kind'] === 'model' ? 'cyan' : 'blue';
    case 'message':
      return 'yellow';
    case 'verification':
      return 'red';
    default:
      return undefined;
  }
}

function detailStyle({ type, data, erased }: Event): Style | undefined {
  if (erased === true) return 'dim';
  if (type === 'verification.failed') return 'red';
  const { outcome } = data;
  return typeof outcome !== 'string' || outcome === 'ok' ? undefined : outcomeStyle(outcome);
}
