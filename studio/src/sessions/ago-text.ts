/** Writes how long ago something was. */
export function agoText(time: number, now: number): string {
  const ms = now - time;
  if (ms < 60_000) return 'just now';
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ago`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h ago`;
  return ms < 30 * 86_400_000 ? `${Math.floor(ms / 86_400_000)} d ago` : new Date(time).toLocaleDateString('en-CA');
}
