import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readRows } from './exported-rows.ts';

test('rows are read out of the blocks that they were cut into', async () => {
  const rows = { format: 1, release: '1', ref: 'a/main@1 “</script>”', restores: [] };
  const packed = deflateSync(JSON.stringify(rows));
  const blocks = [packed.subarray(0, 20), packed.subarray(20, 41), packed.subarray(41)].map(
    (part) => `\n${part.toString('base64')}\n`,
  );
  expect(await readRows(blocks)).toEqual(rows);
});
