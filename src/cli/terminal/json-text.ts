// JSON escapes the control characters below the space; terminals obey these, too.
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Writes a value as JSON that is safe to print: characters that a terminal would obey are escaped. */
export function jsonText(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, null, indent) ?? 'null');
}

/** Escapes the characters of JSON text that a terminal would obey; the value stays the same. */
export function escapedJson(text: string): string {
  return text.replace(obeyed, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
