import assert from 'node:assert/strict';
import type { Digest } from '../../core/point.ts';
import { type ContractCase, contractCase, noDigest, rejects } from './contract-case.ts';

const receipt = (kind: string, body = { ok: true }, digest = noDigest) => ({
  digest,
  kind,
  createdAt: '2026-11-15T10:00:00.000Z',
  body,
});

/** What `putReceipt` promises. */
export const putReceiptCases: readonly ContractCase[] = [
  contractCase('putReceipt() replaces the one of the same digest and kind', async ({ store, ref }) => {
    await store.putReceipt(ref, receipt('export', { ok: false }));
    await store.putReceipt(ref, receipt('export'));
    assert.deepEqual(await store.receipts(ref, noDigest), [receipt('export')]);
    await rejects(store.putReceipt({ ...ref, session: 'nowhere' }, receipt('export')), 'session.not-found');
  }),
];

/** What `receipts` promises. */
export const receiptsCases: readonly ContractCase[] = [
  contractCase('receipts() gives those of one point of one session, by kind', async ({ store, ref }) => {
    const digest = '1'.repeat(64) as Digest;
    await store.createSession({ ...ref, session: 'other' }, { root: 'main', seed: 'x' });
    await store.putReceipt(ref, receipt('rerun'));
    await store.putReceipt(ref, receipt('export'));
    await store.putReceipt(ref, receipt('rerun', { ok: false }, digest));
    assert.deepEqual(await store.receipts(ref, noDigest), [receipt('export'), receipt('rerun')]);
    assert.deepEqual(await store.receipts(ref, digest), [receipt('rerun', { ok: false }, digest)]);
    assert.deepEqual(await store.receipts({ ...ref, session: 'other' }, noDigest), []);
    assert.deepEqual(await store.receipts({ ...ref, session: 'nowhere' }, noDigest), []);
  }),
];
