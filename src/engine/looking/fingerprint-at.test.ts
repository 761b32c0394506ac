import { describe, expect, test } from 'vitest';
import { openWith } from '../../open-reprise.ts';

const notes = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ type: 'note.added', data: { text: `note ${from + index}` } }));

/** A session of 600 notes, and how many events were read since it was last asked. */
async function longSession() {
  let read = 0;
  const reprise = await openWith('memory:', { onRead: (events) => (read += events) });
  const session = await reprise.createSession('long');
  await session.append(notes(0, 600));
  const readBy = async (look: () => Promise<string>) => {
    read = 0;
    const value = await look();
    return { value, read };
  };
  return { reprise, session, readBy };
}

describe('session.fingerprint()', () => {
  test('of a long history is kept: asked again, nothing is read', async () => {
    const { reprise, session, readBy } = await longSession();
    await using _ = reprise;
    const first = await readBy(() => session.fingerprint());
    expect(first.read).toBeGreaterThanOrEqual(600);
    expect(await readBy(() => session.fingerprint())).toEqual({ value: first.value, read: 0 });
  });

  test('is that of the point, not the one kept before it', async () => {
    const { reprise, session } = await longSession();
    await using _ = reprise;
    const before = await session.fingerprint();
    await session.append(notes(600, 1));
    const after = await session.fingerprint();
    expect(after).not.toBe(before);
    expect(await session.at('main@600').fingerprint()).toBe(before);
    await session.revert(601);
    expect(await session.fingerprint()).toBe(before);
  });

  test('forgets what was kept when a payload is erased', async () => {
    const { reprise, session } = await longSession();
    await using _ = reprise;
    const before = await session.at('main@600').fingerprint();
    await session.erase('main@5');
    expect(await session.at('main@600').fingerprint()).not.toBe(before);
  });
});
