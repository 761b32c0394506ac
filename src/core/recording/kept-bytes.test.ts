import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOfText, keepBytes, keptBytes, textOfBytes } from './kept-bytes.ts';

test('any bytes come back from base64 and from their text, in which UTF-8 can be read', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.string({ unit: 'binary' }), fc.uint8Array(), (before, said, after) => {
      const text = said.toWellFormed();
      const bytes = new Uint8Array([...before, 10, ...new TextEncoder().encode(text), 10, ...after]);
      expect(keptBytes(keepBytes(bytes))).toEqual(bytes);
      expect(bytesOfText(textOfBytes(bytes))).toEqual(bytes);
      expect(textOfBytes(bytes)).toContain(text);
    }),
  );
});
