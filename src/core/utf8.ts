/** Returns the number of bytes of a string in UTF-8. */
export function utf8Length(text: string): number {
  // Nearly every text is ASCII, and a search goes through it three times as fast as a loop.
  if (!beyondAscii.test(text)) return text.length;
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code >= 0xd800 && code < 0xdc00) {
      bytes += 4;
      index++;
    } else bytes += 3;
  }
  return bytes;
}

const beyondAscii = /[\u0080-\uffff]/;

/** Orders two strings by their UTF-8 bytes, which is the order of code points, not of UTF-16 units. */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return utf16Rank(a) - utf16Rank(b);
  }
  return left.length - right.length;
}

/** Surrogates encode code points above U+FFFF, so they sort after every other unit. */
function utf16Rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
