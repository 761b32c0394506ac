import { expect, test } from 'vitest';
import { nextPage } from './use-sessions.ts';

test('a narrow filter is read on until something matches, or nothing is left', async () => {
  const pages = [
    { items: [], cursor: 'b' },
    { items: [], cursor: 'c' },
    { items: ['found'], cursor: 'd' },
  ];
  const asked: string[] = [];
  const page = await nextPage(async (cursor) => {
    asked.push(cursor);
    return pages[asked.length - 1] ?? { items: [], cursor: '' };
  }, 'a');
  expect(page.items).toEqual(['found']);
  expect(asked).toEqual(['a', 'b', 'c']);
  expect(await nextPage(async () => ({ items: [], cursor: '' }), '')).toEqual({ items: [], cursor: '' });
});
