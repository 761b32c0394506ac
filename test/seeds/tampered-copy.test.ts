import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openReprise, RepriseError } from '../../src/index.ts';
import { openRecordedStore, type RecordedStore } from './recorded-store.ts';
import { matrix } from './tamper-matrix.ts';

let store: RecordedStore;
beforeAll(async () => {
  store = await openRecordedStore();
});
afterAll(() => store[Symbol.dispose]());

/** Copies a store that was changed with SQL, and gives why that was refused and what is left at the target. */
async function copyAfter(sql: string): Promise<{ readonly error: unknown; readonly left: readonly string[] }> {
  await using from = await openReprise({ store: `sqlite:${store.copyAfter(sql)}`, readOnly: true });
  await using to = await openReprise('memory:');
  const error: unknown = await from.copy(to).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const left: string[] = [];
  for await (const { session } of to.sessions()) left.push(session);
  return { error, left };
}

describe('I8 a source that was tampered with is not copied: copy() names the place, and leaves nothing, when', () => {
  test.each(matrix)('$what', async ({ sql, bad }) => {
    const { error, left } = await copyAfter(sql);
    expect(error).toBeInstanceOf(RepriseError);
    const { code, message, details } = error as RepriseError;
    expect(['event.damaged', 'part.missing']).toContain(code);
    expect(message).toMatch(/^Cannot copy session "demo": "\w+" at the source: \w/);
    expect(details['seq']).toBe(bad);
    expect(left).toEqual([]);
  });

  test('nothing was changed, and then it is copied', async () => {
    expect(await copyAfter('')).toEqual({ error: undefined, left: ['demo'] });
  });
});
