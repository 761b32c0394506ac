import { expect, test } from 'vitest';
import { limits } from '../../core/limits.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import { createReprise } from '../reprise-parts.ts';

test('a checker that hangs is given up after its limit, and the verdict says so', async () => {
  const waits: number[] = [];
  const platform = {
    ...createNodePlatform(),
    startTimer: (ms: number, fire: () => void) => {
      waits.push(ms);
      queueMicrotask(fire);
      return () => undefined;
    },
  };
  const session = await createReprise({ store: openMemoryStore({ platform }), platform }).createSession('demo');
  const beliefs = session.using({ contradicts: () => new Promise(() => undefined) }).beliefs;
  await beliefs.commit({ topic: 't', kind: 'fact', claim: 'one' });
  const { settled } = await beliefs.commit({ topic: 't', kind: 'fact', claim: 'two' });
  expect(waits).toEqual([limits.judgementMsMax]);
  expect(settled[0]).toMatchObject({ strategy: 'last-write-wins', fallback: expect.stringContaining('30000 ms') });
});
