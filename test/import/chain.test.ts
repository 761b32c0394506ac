import { expect, test } from 'vitest';
import { BernsteinChain } from '../../src/adapters/import/bernstein/chain.ts';

// The vectors of a run's journal, computed by the algorithm that Bernstein documents.
const rows = [
  {
    event: 'run_started',
    run_id: 'run-1',
    payload: '6e81f94a09b09f634d82a0901b265bb12ec31d1d11adb05d2b11da5dfc874a37',
    hash: '1b53658dbcd3703ee156159b82016825123eb01d33c876e8ae877da6a8139c7d',
  },
  {
    event: 'task_claimed',
    task_id: 'T-1',
    payload: '3b6fcf534cafe1462b47026e4de31a5044f337810d69f5dbe02c1d127b068f3f',
    hash: 'b280b2e9582443e8707013e4ac85a25beacf9f49e7a16079dc8d6d27ab7c1a82',
  },
  {
    event: 'run_completed',
    run_id: 'run-1',
    payload: '9e25f092fd8ec33a4f5bbb24ab4836355516ce718a0091c86a54ed28134ff276',
    hash: 'e1bcf63ae38c901c257b7605c6e590b1569db6ba528647c5d88294bf99f82fce',
  },
];
const journal = rows.map(({ payload, hash, ...data }, index) =>
  JSON.stringify({
    ts: 1.5,
    elapsed_s: 0.1,
    index,
    prev_hash: rows[index - 1]?.hash ?? '',
    payload_hash: payload,
    event_hash: hash,
    ...data,
  }),
);

test('the chain of a journal holds, and its head is the identity of the run', () => {
  const chain = new BernsteinChain();
  expect(journal.map((row) => chain.next(row))).toEqual([undefined, undefined, undefined]);
  expect(chain.head).toBe(rows[2]?.hash);
});

test.each([
  ['changed', [journal[0], journal[1]?.replace('T-1', 'T-2'), journal[2]], 1],
  ['dropped', [journal[0], journal[2]], 1],
  ['swapped', [journal[1], journal[0], journal[2]], 0],
  ['repeated', [journal[0], journal[0], journal[1]], 1],
])('a row that was %s breaks it at its place', (_, list, at) => {
  const chain = new BernsteinChain();
  const faults = list.map((row) => chain.next(row ?? ''));
  expect(faults.findIndex((fault) => fault !== undefined)).toBe(at);
});
