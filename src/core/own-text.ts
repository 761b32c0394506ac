/**
 * Returns a short string with its own characters. A string that was cut out of a long one may share its characters, and
 * a map that remembers it would keep all of the long one in memory.
 */
export function ownText(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
