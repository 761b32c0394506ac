import { expect, test } from 'vitest';
import { type Digest, seq } from '../../core/point.ts';
import type { PageBatch } from './page-batches.ts';
import { packRows, unpackRows } from './page-rows.ts';

const digestOf = (letter: string): Digest => letter.repeat(64) as Digest;
const common = { time: '2026-11-16T09:00:00.000Z', version: 1, turn: 1, dataDigest: null, erased: false };

const main: PageBatch = {
  branch: 'main',
  events: [
    {
      ...common,
      seq: seq(8),
      id: 'a',
      type: 'note.added',
      agent: null,
      run: null,
      cause: null,
      causeSeq: null,
      digest: digestOf('1'),
      // A different writer may have spaced its JSON.
      data: '{\n"text":"“</script>” \\ud800 😀"}',
      salt: 's1',
      keys: [],
    },
    {
      ...common,
      seq: seq(9),
      id: 'b',
      type: 'call.started',
      agent: 'support',
      run: 'r',
      cause: 'a',
      causeSeq: seq(8),
      digest: digestOf('2'),
      data: null,
      salt: null,
      dataDigest: digestOf('e'),
      erased: true,
      keys: ['call\u0001b'],
    },
    {
      ...common,
      seq: seq(10),
      id: 'c',
      type: 'note.added',
      agent: 'support',
      run: null,
      cause: null,
      causeSeq: null,
      digest: digestOf('3'),
      data: '{}',
      salt: 's3',
      keys: [],
    },
  ],
  parts: [{ digest: digestOf('4'), kind: 'body', salt: 's4', text: 'two\nlines \ud800', refs: [] }],
};
const parts: PageBatch = { branch: 'main', events: [], parts: main.parts };
const fork: PageBatch = { ...main, branch: 'other', parent: { branch: 'main', seq: seq(7) }, parts: [] };
const rows = {
  release: '1',
  namespace: 'default',
  session: 's',
  ref: 's/main',
  created: { root: 'main', seed: 'x' },
  leftOut: [{ rule: 'all', payloads: 1 }],
  heads: [{ branch: 'main', seq: 10, digest: digestOf('3') }],
};

test('rows come out as they went in, with the last digest of each batch', () => {
  const packed = packRows({ ...rows, restores: [parts, main, fork] });
  const chained = main.events.map((event, at) => (at === 2 ? event : { ...event, digest: undefined }));
  expect(unpackRows(packed)).toEqual({
    ...rows,
    restores: [parts, { ...main, events: chained }, { ...fork, events: chained }],
  });
  expect(packed).not.toContain(digestOf('1'));
});

test('events share the texts that they have in common', () => {
  const { restores } = unpackRows(packRows({ ...rows, restores: [main] }));
  expect(restores[0]?.events.map(({ type, agent }) => [type, agent])).toEqual([
    ['note.added', null],
    ['call.started', 'support'],
    ['note.added', 'support'],
  ]);
});
