import assert from 'node:assert/strict';
import { given } from '../../core/json.ts';
import type { Digest } from '../../core/point.ts';
import type { Receipt } from '../../core/store/event-store.ts';
import { type ContractCase, contractCase, noDigest, rejects } from './contract-case.ts';

const receipt = (kind: string, body = { ok: true }, digest = noDigest) => ({
  digest,
  kind,
  createdAt: '2026-11-15T10:00:00.000Z',
  body,
});

/** The guarantees of `putReceipt`. */
export const putReceiptCases: readonly ContractCase[] = [
  contractCase('putReceipt() replaces the one of the same digest and kind', async ({ store, ref }) => {
    await store.putReceipt(ref, receipt('export', { ok: false }));
    await store.putReceipt(ref, receipt('export'));
    assert.deepEqual(await store.receipts(ref, noDigest), [receipt('export')]);
    await rejects(store.putReceipt({ ...ref, session: 'nowhere' }, receipt('export')), 'session.not-found');
  }),
];

/** The guarantees of `receipts`. */
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

/** The guarantees of `heldReceipts`. */
export const heldReceiptsCases: readonly ContractCase[] = [
  contractCase(
    'heldReceipts() pages through every receipt of one session by digest and kind',
    async ({ store, ref }) => {
      const digests = ['2', '0', '1'].map((digit) => digit.repeat(64) as Digest);
      const other = { ...ref, session: 'other' };
      await store.createSession(other, { root: 'main', seed: 'x' });
      await store.putReceipt(other, receipt('export'));
      for (const digest of digests)
        for (const kind of ['rerun', 'export', 'Z']) await store.putReceipt(ref, receipt(kind, { ok: true }, digest));
      const found: Receipt[] = [];
      for (let after: Receipt | undefined; ; after = found.at(-1)) {
        const page = await store.heldReceipts(ref, { limit: 2, ...given({ after }) });
        assert.ok(page.length <= 2);
        if (page.length === 0) break;
        found.push(...page);
      }
      const expected = digests
        .sort()
        .flatMap((digest) => ['Z', 'export', 'rerun'].map((kind) => receipt(kind, { ok: true }, digest)));
      assert.deepEqual(found, expected);
      assert.deepEqual(await store.heldReceipts({ ...ref, session: 'nowhere' }, { limit: 9 }), []);
    },
  ),
];
