import { expect, test } from 'vitest';
import { inlineOf, looksLikeMarkdown, readMarkdown } from './markdown.ts';

test('blocks are read, and everything that is not known is a paragraph', () => {
  const text = [
    '# Plan',
    'Look it up,',
    'then **refund** `50`.',
    '',
    '- one',
    '  - two',
    '1. three',
    '> said',
    '```json',
    '{"a": "# no heading"}',
    '```',
    '---',
    '| a | b |',
    '|---|---|',
    '| 1 | *2* |',
    '<b>no HTML</b>',
  ].join('\n');
  expect(readMarkdown(text).map(({ kind }) => kind)).toEqual([
    'heading',
    'paragraph',
    'list',
    'quote',
    'code',
    'rule',
    'table',
    'paragraph',
  ]);
  expect(readMarkdown(text).at(-1)).toEqual({
    kind: 'paragraph',
    inline: [{ kind: 'text', text: '<b>no HTML</b>' }],
  });
});

test('a link keeps its address as text, and a picture is one', () => {
  expect(inlineOf('see [this](javascript:alert(1)) ![x](https://evil.example/a.png)')).toMatchObject([
    { text: 'see ' },
    { kind: 'link', text: 'this', address: 'javascript:alert(1' },
    { text: ') ' },
    { kind: 'link', text: 'x', address: 'https://evil.example/a.png' },
  ]);
});

test('a block that never ends, and a long line of signs, end all the same', () => {
  expect(readMarkdown('```\na\nb')).toEqual([{ kind: 'code', text: 'a\nb' }]);
  expect(readMarkdown('**['.repeat(20_000))).toHaveLength(1);
});

test('plain words do not look like Markdown', () => {
  expect(['I will refund 500 now.', 'a - b', '2 * 3', '# Title', 'a **b**', '- item'].map(looksLikeMarkdown)).toEqual([
    false,
    false,
    false,
    true,
    true,
    true,
  ]);
});
