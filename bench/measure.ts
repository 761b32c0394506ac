/** How figures are taken and held against goals. Times are milliseconds unless a name says otherwise. */

/** One line of the report. */
export interface Row {
  readonly name: string;
  readonly goal: string;
  readonly figure: string;
  readonly verdict: 'met' | 'missed' | 'for the record';
  /** The measurements behind the figure. */
  readonly detail: string;
  /** By how much a goal was missed, and why. */
  readonly miss?: string;
}

/** A figure and its goal. */
export interface Judged {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  /** The unit after the number: `×`, ` ms`, ` B`. */
  readonly unit: string;
  readonly detail: string;
  /** The most expensive part, printed only when the goal is missed. */
  readonly cause: string;
}

/** A row whose figure must not be over its limit. */
export function atMost(judged: Judged): Row {
  return judge(judged, '≤', judged.value <= judged.limit);
}

/** A row whose figure must not be under its limit. */
export function atLeast(judged: Judged): Row {
  return judge(judged, '≥', judged.value >= judged.limit);
}

/** A row without a goal. */
export function forTheRecord(name: string, figure: string, detail: string): Row {
  return { name, goal: '–', figure, verdict: 'for the record', detail };
}

function judge({ name, value, limit, unit, detail, cause }: Judged, sign: '≤' | '≥', isMet: boolean): Row {
  const row = { name, goal: `${sign} ${limit}${unit}`, figure: `${short(value)}${unit}`, detail };
  if (isMet) return { ...row, verdict: 'met' };
  const by = sign === '≤' ? value / limit : limit / value;
  return { ...row, verdict: 'missed', miss: `Missed by ${percent(by - 1)}: ${cause}` };
}

/** One way of doing the work: it prepares, measures itself, and gives the time of one unit. */
export type Contender = () => number | Promise<number>;

/**
 * Runs contenders in turn, round after round, so that a slow moment of the machine falls on all of them. Before each, the
 * young garbage of the last one is collected, and only that: a full collection would throw away, too, what the engine
 * has learnt of the code, and a contender with more than a statement or two would be measured cold, round after round.
 */
export async function alternate<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contenders) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    // There and back: what one leaves for the system to write is not always paid for by the same next one.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      globalThis.gc?.({ type: 'minor' });
      times[name].push(await contenders[name]());
    }
  }
  return times;
}

/** The time of one of `count` units of work. */
export async function timeEach(count: number, work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / count;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? Number.NaN) + high) / 2;
}

/** The value below which so much of all lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The least value: what the disk gives when no one else is using it. */
export const minimum = (values: readonly number[]): number => Math.min(...values);

/** A number with about three digits that count. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size < 0.1) return String(Number(value.toPrecision(2)));
  if (size >= 1_000) return Math.round(value).toLocaleString('en');
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** A time, in the unit that suits it. */
export function time(ms: number): string {
  if (ms >= 1_000) return `${short(ms / 1_000)} s`;
  return ms >= 1 ? `${short(ms)} ms` : `${short(ms * 1_000)} µs`;
}

/** Bytes, in the unit that suits them. */
export function bytes(count: number): string {
  if (count >= 1_048_576) return `${short(count / 1_048_576)} MiB`;
  return count >= 10_240 ? `${short(count / 1_024)} KiB` : `${Math.round(count)} B`;
}

/** A share, in percent. */
export const percent = (share: number): string => `${short(share * 100)} %`;

/** The middle and the range of some times. */
export function spread(times: readonly number[]): string {
  return `${time(median(times))} (${time(Math.min(...times))}–${time(Math.max(...times))})`;
}
