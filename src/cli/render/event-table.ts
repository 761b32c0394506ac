import type { Event } from '../../core/event.ts';
import { isStructural } from '../../core/structural-types.ts';
import type { Output } from '../output.ts';
import { offsetText } from './amount.ts';
import { detailOf } from './event-detail.ts';
import { cut, fit, plain } from './text.ts';

const narrowColumns = 70;

/** Events as the rows of a table, a line at a time: widths are fixed, so that the first row need not wait for the last. */
export class EventTable {
  readonly #out: Output;
  readonly #start: string | undefined;
  readonly #isNarrow: boolean;

  constructor(out: Output, start: string | undefined) {
    this.#out = out;
    this.#start = start;
    this.#isNarrow = out.columns < narrowColumns;
  }

  head(): string[] {
    return [this.#out.bold(this.#cells('SEQ', 'TIME', 'EVENT', 'AGENT', 'TURN', 'DETAIL').trimEnd())];
  }

  line(event: Event): string {
    const time = this.#start === undefined ? '' : offsetText(this.#start, event.time);
    const task = typeof event.data['task'] === 'string' ? `${event.turn}/${event.data['task']}` : String(event.turn);
    const line = this.#cells(String(event.seq), time, event.type, plain(event.agent ?? ''), plain(task), detailOf(event));
    return this.#colour(event, line.trimEnd());
  }

  #cells(seq: string, time: string, type: string, agent: string, turn: string, detail: string): string {
    const left = this.#isNarrow ? `${fit(seq, 4, 'right')}  ${fit(type, 14)}  ` : `${fit(seq, 6, 'right')}  ${fit(time, 10)}  ${fit(type, 18)}  ${fit(agent, 12)}  ${fit(turn, 5)}  `;
    return left + cut(detail, Math.max(4, this.#out.columns - left.length));
  }

  #colour(event: Event, line: string): string {
    const { outcome } = event.data;
    if (event.erased === true) return this.#out.dim(line);
    if (outcome === 'error' || event.type === 'verification.failed') return this.#out.style('red', line);
    if (typeof outcome === 'string' && outcome !== 'ok') return this.#out.style('yellow', line);
    if (isStructural(event.type)) return this.#out.style('magenta', line);
    if (event.type.startsWith('call.')) return this.#out.style(event.data['kind'] === 'model' ? 'cyan' : 'blue', line);
    if (event.type.startsWith('run.') || event.type.startsWith('turn.')) return this.#out.bold(line);
    return line;
  }
}
