import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversation, openReprise, RepriseError, refText, summary } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';
import { openRecordedStore, type RecordedStore } from './recorded-store.ts';
import { branch, partOf, set } from './tamper-sql.ts';

let store: RecordedStore;
beforeAll(async () => {
  store = await openRecordedStore();
});
afterAll(() => store[Symbol.dispose]());

describe('a tampered file never hangs, crashes or gives other errors than ours:', () => {
  const bodyOfFifth = partOf(5, '$.request.body."$body"');
  const hostile: Readonly<Record<string, string>> = {
    'a lineage that goes round in a circle': `UPDATE branches SET parent_id = ${branch('y')} WHERE name = 'x'`,
    'a list that is its own beginning': `UPDATE parts SET text = json_set(text, '$.previous', lower(hex(digest))), refs = json_array(lower(hex(digest))) WHERE kind = 'list'`,
    'a body that is its own base': `UPDATE parts SET text = json_set(text, '$.base', lower(hex(digest))) WHERE id = ${bodyOfFifth}`,
    'a payload that is not JSON': set(`data = 'x'`, 5),
    'a marker that is not JSON': set(`data = 'x'`, 9),
    'a seq larger than a number can be': set('seq = 9223372036854775807', 12),
    'a snapshot that is not JSON': 'UPDATE snapshots SET value = substr(value, 1, 3)',
    'a path that leads out of the store as an id': set(`id = '../../../etc/passwd'`, 5),
  };

  test.each(Object.entries(hostile))('%s', async (_, sql) => {
    await using reprise = await openReprise(`sqlite:${store.copyAfter(sql)}`);
    const session = await reprise.session('demo');
    const looks: readonly (() => Promise<unknown>)[] = [
      () => all(session.replay()),
      () => all(session.at('y').replay({ history: 'raw' })),
      () => session.fold(summary),
      () => session.at('y').fold(conversation),
      () => session.tree(),
      () => session.toJSON(),
      () => session.verify(),
      () => session.at('y').verify(),
      () => session.fork('y', { name: 'new' }),
    ];
    for (const look of looks) {
      const outcome = await look().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (outcome !== undefined) expect(outcome).toBeInstanceOf(RepriseError);
      if (outcome instanceof RepriseError)
        expect(['store.damaged', 'part.damaged', 'part.missing', 'limit.exceeded']).toContain(outcome.code);
    }
  });
});

describe('ids are names, never places:', () => {
  test.each(['../../etc/passwd', '..', '/etc/passwd', 'C:\\x', 'a/../b', '%2e%2e%2f', 'file:///etc/passwd'])(
    '%s',
    async (id) => {
      const path = store.copyAfter('');
      await using reprise = await openReprise(`sqlite:${path}`);
      const session = await reprise.namespace(id).session(id, { create: true });
      await session.append({ type: 'note.added', id, agent: id, run: id, data: { text: 'a' } });
      const forked = await session.at({ seq: 1 }).fork({ name: id });
      expect((await forked.verify()).ok).toBe(true);
      const ref = refText({ session: id, branch: id, at: { kind: 'head' } });
      expect(await reprise.namespace(id).resolve(ref)).toMatchObject({ session: id, branch: id });
      expect(readdirSync(dirname(path)).every((name) => /^\w+\.db(-wal|-shm)?$/.test(name))).toBe(true);
    },
  );
});
