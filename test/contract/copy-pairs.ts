import { describe, expect, it } from 'vitest';
import { createNodePlatform, openReprise } from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';
import { recordMany } from './many-sessions.ts';
import { expectSameSessions } from './same-history.ts';

const platform = createNodePlatform();

/** Stores by kind, each opened fresh and empty. */
export type Kinds = Readonly<Record<string, () => Promise<EventStore>>>;

/** Sessions with everything in them, copied from each kind to each kind, and back. */
export function copyPairs(pairs: readonly (readonly [from: string, to: string])[], kinds: Kinds): void {
  describe.each(pairs)('copied from %s to %s', (from, to) => {
    it('I7 I8 every session is what it was: events, parts, keys, branches, receipts, order', async () => {
      const [left, right, back] = await Promise.all([from, to, from].map((kind) => (kinds[kind] as Kinds[string])()));
      const [source, target, again] = [left, right, back].map((store) => ({
        store: store as EventStore,
        namespace: 'default',
      }));
      if (source === undefined || target === undefined || again === undefined) throw new Error('Three stores are open');
      await using one = await openReprise({ store: source.store, platform });
      await using two = await openReprise({ store: target.store, platform });
      await using three = await openReprise({ store: again.store, platform, namespace: 'default' });
      await recordMany(one);
      const ref = { namespace: 'default', session: 'everything' };
      const { genesis } = (await source.store.session(ref)) ?? { genesis: '' as never };
      await source.store.putReceipt(ref, {
        digest: genesis,
        kind: 'export',
        createdAt: '2026-01-01',
        body: { ok: true },
      });
      // Something of the same content is there already, behind the same wall.
      await (await two.createSession('before')).append({ type: 'note.added', data: { text: 'before' } });
      await one.copy(two);
      await two.copy(three);
      await (await two.session('before')).delete({ confirm: 'before' });
      await (await three.session('before')).delete({ confirm: 'before' });
      expect(await expectSameSessions(source, target)).toBe(16);
      await expectSameSessions(source, again);
      for await (const { session } of two.sessions()) {
        const [own, other] = [await one.session(session), await two.session(session)];
        for (const { branch } of (await own.toJSON()).branches) {
          expect(await other.branch(branch).fingerprint()).toBe(await own.branch(branch).fingerprint());
          expect(await other.branch(branch).verify()).toMatchObject({ ok: true });
        }
      }
    });
  });
}
