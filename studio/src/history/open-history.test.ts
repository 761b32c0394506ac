import { expect, test, vi } from 'vitest';
import type { StudioSource } from '../source/studio-source.ts';
import { OpenHistory } from './open-history.ts';

test('a history that breaks off after its length shows no empty picture, says why, and lets the page go on', async () => {
  vi.stubGlobal('cancelAnimationFrame', () => undefined);
  vi.stubGlobal('requestAnimationFrame', () => {
    throw new Error('There is no event to draw yet');
  });
  const index: StudioSource['index'] = async (_name, _around, _after, take) => {
    take({ kind: 'range', head: 3, digest: 'd' });
    throw new Error('The line is cut');
  };
  const settled = vi.fn<() => void>();
  const history = new OpenHistory(
    { index } as StudioSource,
    { namespace: 'default', session: 's', branch: 'main' },
    settled,
  );
  history.load(1);
  await history.firstShown();
  expect(settled).toHaveBeenCalledOnce();
  const { isLoading, head, error } = history.progress.value;
  expect([isLoading, head, error?.message]).toEqual([false, 3, 'The line is cut']);
  vi.unstubAllGlobals();
});

test('the first picture is there as soon as the first events are, before the rest', async () => {
  vi.stubGlobal('cancelAnimationFrame', () => undefined);
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => void setImmediate(draw));
  const index: StudioSource['index'] = async (_name, _around, _after, take) => {
    take({ kind: 'range', head: 3, digest: 'd' });
    take({ kind: 'outside', stretches: [] });
    return await new Promise(() => undefined);
  };
  const name = { namespace: 'default', session: 's', branch: 'main' };
  const history = new OpenHistory({ index } as StudioSource, name, () => undefined);
  history.load(1);
  await history.firstShown();
  expect(history.progress.value).toMatchObject({ isLoading: true, head: 3 });
  await history.firstShown();
  vi.unstubAllGlobals();
});
