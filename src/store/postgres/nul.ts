// PostgreSQL cannot store U+0000 in text. It is written as two characters that rarely meet, and the first of them is
// escaped the same way, so that every text comes back unchanged.
const lead = '\u001a';

/** Returns a string that PostgreSQL can store. */
export function escapeNul(text: string): string {
  if (!text.includes('\u0000') && !text.includes(lead)) return text;
  return text.replaceAll(lead, `${lead}1`).replaceAll('\u0000', `${lead}0`);
}

/** Returns the original of an escaped text. */
export function unescapeNul(text: string): string {
  return text.includes(lead) ? text.replace(/\u001a([01])/g, (_, kind) => (kind === '0' ? '\u0000' : lead)) : text;
}
