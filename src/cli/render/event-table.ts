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
  /** Whether some event belongs to a task. */
  readonly hasTasks: boolean;
}

interface Column {
  readonly title: string;
  readonly width: number;
  readonly align?: 'right';
  /** Takes room from the detail instead of being cut: an id is no use in part. */
  readonly isWhole?: true;
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
    this.#columns = columnsFor(out.tableColumns, range);
    this.#detailWidth = this.#columns.reduce((left, column) => left - column.width - 2, out.tableColumns);
  }

  /** Returns the line of titles. */
  head(): string {
    const titles = this.#columns.map(({ title, width, align }) => fit(title, width, align));
    return this.#out.bold([...titles, 'DETAIL'].join('  '));
  }

  /** Returns one row. */
  line(event: Event): string {
    let extra = 0;
    const cells = this.#columns.map(({ text, width, align, style, isWhole }) => {
      const held = plain(text(event));
      const wide = isWhole === true ? Math.max(width, widthOf(held)) : width;
      extra += wide - width;
      const shown = this.#out.cell(held, wide, align);
      const wanted = style?.(event);
      return wanted === undefined ? shown : this.#out.style(wanted, shown);
    });
    const detail = cut(detailOf(event), Math.max(4, this.#detailWidth - extra));
    const wanted = detailStyle(event);
    return [...cells, wanted === undefined ? detail : this.#out.style(wanted, detail)].join('  ').trimEnd();
  }
}

function columnsFor(columns: number, { startedAt, lastAt, seq, hasTasks }: TableRange): readonly Column[] {
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
  const tasks: Column = { title: 'TASK', width: isWide ? 10 : 6, isWhole: true, text: taskText };
  if (columns < narrowColumns) return [seqs, types, ...(hasTasks ? [tasks] : [])];
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
    { title: 'TURN', width: 4, align: 'right', text: ({ turn }) => String(turn) },
    ...(hasTasks ? [tasks] : []),
  ];
}

/** Drops the fraction of an offset that does not fit: a marker may be much later than the rest. */
const within = (offset: string, width: number): string =>
  offset.length > width ? offset.replace(/\.\d+$/, '') : offset;

const taskText = ({ data: { task } }: Event): string => (typeof task === 'string' ? task : '');

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
    case 'task':
    case 'agent':
      return type.endsWith('.ended') ? outcomeStyle(textIn(data['outcome'])) : undefined;
    default:
      return undefined;
  }
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function detailStyle({ type, data, erased }: Event): Style | undefined {
  if (erased === true) return 'dim';
  if (type === 'verification.failed') return 'red';
  const { outcome } = data;
  return typeof outcome !== 'string' || outcome === 'ok' ? undefined : outcomeStyle(outcome);
}
