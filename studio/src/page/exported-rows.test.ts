import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { packRows } from '../../../src/engine/bundling/page-rows.ts';
import { readRows } from './exported-rows.ts';

test('rows are read out of the blocks that they were cut into', async () => {
  const about = { release: '1', namespace: 'default', session: 'a', ref: 'a/main@1 “</script>”' };
  const rows = { ...about, created: { root: 'main', seed: 'x' }, restores: [], leftOut: [], heads: [] };
  const packed = deflateSync(packRows(rows));
  const blocks = [packed.subarray(0, 20), packed.subarray(20, 41), packed.subarray(41)].map(
    (part) => `\n${part.toString('base64')}\n`,
  );
  expect(await readRows(blocks)).toEqual(rows);
});
