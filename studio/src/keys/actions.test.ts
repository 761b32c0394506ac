import { expect, test } from 'vitest';
import { keyText } from './actions.ts';

const press = (key: string, more = {}) =>
  keyText({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

test('a key is written as actions name it', () => {
  expect(press('e')).toBe('E');
  expect(press('E', { shiftKey: true })).toBe('Shift+E');
  expect(press('k', { metaKey: true })).toBe('Mod+K');
  expect(press('k', { ctrlKey: true })).toBe('Mod+K');
  expect(press('?', { shiftKey: true })).toBe('?');
  expect(press(' ')).toBe('Space');
  expect(press('ArrowRight', { shiftKey: true })).toBe('Shift+ArrowRight');
});
