import { msBetween } from '../core/time.ts';

/** Writes a number of bytes: `812 B`, `4.2 kB`, `1.3 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 99.95 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`;
}

/** Writes a count with separators between thousands: `12,345`. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Writes a count with its noun: `1 event`, `12,345 events`. */
export function plural(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Writes a duration: `182ms`, `4.2s`, `3m 07s`, `2h 05m`, `3d 04h`; negative where clocks disagree. */
export function durationText(ms: number): string {
  if (ms < 0) return `-${durationText(-ms)}`;
  if (ms < 999.5) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  const pad = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${pad(seconds % 60)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h ${pad(minutes % 60)}m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)}d ${pad(hours % 24)}h`;
}

/** Writes an offset from the start: `+0:00.182`, `+12:03.000`, `+1:00:00.000`; negative for an event recorded late. */
export function offsetText(start: string, time: string, decimals: 1 | 3 = 3): string {
  const ms = msBetween(start, time);
  // Cut instead of rounding: a minute never has 60 seconds.
  const value = decimals === 3 ? Math.abs(ms) : Math.floor(Math.abs(ms) / 100) * 100;
  const seconds = ((value % 60_000) / 1000).toFixed(decimals).padStart(decimals + 3, '0');
  const minutes = Math.floor(value / 60_000);
  const clock =
    minutes < 60
      ? `${minutes}:${seconds}`
      : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${seconds}`;
  return `${ms < 0 ? '-' : '+'}${clock}`;
}

/** Writes a time as `2026-11-15 10:00:00`, in UTC. */
export function timeText(time: string): string {
  return time.slice(0, 19).replace('T', ' ');
}

/** The known cost of calls. */
interface Priced {
  readonly cost: number | null;
  readonly unpricedCalls: number;
}

/** Writes a cost, with a plus if there are calls without a price, `?` if no price is known, or `none` if there is no cost. */
export function priceText({ cost, unpricedCalls }: Priced, none = ''): string {
  if (cost === null) return unpricedCalls > 0 ? '?' : none;
  return `${costText(cost)}${unpricedCalls > 0 ? '+' : ''}`;
}

/** Writes US dollars: `$0.0123`, `<$0.0001`, or `?` if the price is unknown. */
export function costText(cost: number | null | undefined): string {
  if (cost === null || cost === undefined) return '?';
  if (cost === 0) return '$0';
  // A small cost is not zero.
  if (cost > 0 && cost < 0.00005) return '<$0.0001';
  return `$${Math.abs(cost) < 1 ? cost.toFixed(4) : cost.toFixed(2)}`;
}
