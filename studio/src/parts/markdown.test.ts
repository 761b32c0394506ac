import { describe, expect, test } from 'vitest';
import { type Block, type Inline, readMarkdown } from './markdown.ts';
import { looksLikeMarkdown } from './markdown-signs.ts';

const text = (words: string): Inline => ({ kind: 'text', text: words });
const paragraph = (words: string): Block => ({ kind: 'paragraph', inline: [text(words)] });
const list = (...items: readonly (readonly Block[])[]): Block => ({ kind: 'list', start: undefined, items });

test('blocks are read, and everything that is not known is a paragraph', () => {
  const source = [
    '# Plan',
    'Look it up,',
    'then **refund** `50`.',
    '',
    '- one',
    '  - two',
    '1. three',
    '',
    '> said',
    '```json',
    '{"a": "# no heading"}',
    '```',
    '---',
    '| a | b |',
    '|---|---|',
    '| 1 | *2* |',
    '',
    'The end.',
  ].join('\n');
  expect(readMarkdown(source)).toEqual([
    { kind: 'heading', level: 1, inline: [text('Plan')] },
    {
      kind: 'paragraph',
      inline: [
        text('Look it up,\nthen '),
        { kind: 'strong', inline: [text('refund')] },
        text(' '),
        { kind: 'code', text: '50' },
        text('.'),
      ],
    },
    list([paragraph('one'), list([paragraph('two')])]),
    { kind: 'list', start: 1, items: [[paragraph('three')]] },
    { kind: 'quote', blocks: [paragraph('said')] },
    { kind: 'code', text: '{"a": "# no heading"}' },
    { kind: 'rule' },
    {
      kind: 'table',
      rows: [
        [[text('a')], [text('b')]],
        [[text('1')], [{ kind: 'emphasis', inline: [text('2')] }]],
      ],
    },
    paragraph('The end.'),
  ]);
});

test('an entry of a list continues in the lines below it', () => {
  expect(readMarkdown('- a\n  continued\n- b')).toEqual([list([paragraph('a\ncontinued')], [paragraph('b')])]);
});

test('code inside a list belongs to its entry, and the numbering continues after it', () => {
  expect(readMarkdown('3. a\n\n   ```js\n   x\n   ```\n4. b')).toEqual([
    { kind: 'list', start: 3, items: [[paragraph('a'), { kind: 'code', text: 'x' }], [paragraph('b')]] },
  ]);
});

test('tildes fence code as backticks do', () => {
  expect(readMarkdown('~~~sh\n# no heading\n~~~')).toEqual([{ kind: 'code', text: '# no heading' }]);
});

test('a quote holds a quote and a list', () => {
  expect(readMarkdown('> a\n> > b\n>\n> - c')).toEqual([
    {
      kind: 'quote',
      blocks: [paragraph('a'), { kind: 'quote', blocks: [paragraph('b')] }, list([paragraph('c')])],
    },
  ]);
});

test('a sign after a backslash is a letter', () => {
  expect(readMarkdown('\\*no\\* \\`code\\`')).toEqual([paragraph('*no* `code`')]);
});

test('a line under a title makes it a heading', () => {
  expect(readMarkdown('Title\n===\nwords').map(({ kind }) => kind)).toEqual(['heading', 'paragraph']);
});

test('emphasis holds emphasis, tasks keep their boxes, and a line may be broken or struck out', () => {
  expect(readMarkdown('**a *b***')).toEqual([
    {
      kind: 'paragraph',
      inline: [{ kind: 'strong', inline: [text('a '), { kind: 'emphasis', inline: [text('b')] }] }],
    },
  ]);
  expect(readMarkdown('- [x] done\n- [ ] open')).toEqual([list([paragraph('[x] done')], [paragraph('[ ] open')])]);
  expect(readMarkdown('a  \nb ~~c~~')).toEqual([
    { kind: 'paragraph', inline: [text('a\nb '), { kind: 'struck', inline: [text('c')] }] },
  ]);
});

describe('hostile text', () => {
  test('a link keeps its address as text, and a picture is one', () => {
    expect(readMarkdown('see [this](javascript:alert(1)) ![x](https://evil.example/a.png) https://b.example')).toEqual([
      {
        kind: 'paragraph',
        inline: [
          text('see '),
          { kind: 'link', inline: [text('this')], address: 'javascript:alert(1)' },
          text(' '),
          { kind: 'link', inline: [text('x')], address: 'https://evil.example/a.png' },
          text(' '),
          { kind: 'link', inline: [text('https://b.example')], address: 'https://b.example' },
        ],
      },
    ]);
  });

  test.each(['<b>no HTML</b>', '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '<!-- hidden -->'])(
    'HTML is text: %s',
    (html) => {
      expect(readMarkdown(html)).toEqual([paragraph(html)]);
      expect(readMarkdown(`a ${html}`)).toEqual([paragraph(`a ${html}`)]);
    },
  );

  test('the address that a name stands for is shown', () => {
    expect(readMarkdown('[a]: https://evil.example "t"')).toEqual([paragraph('[a]: https://evil.example "t"')]);
  });

  test('a block that never ends ends all the same', () => {
    expect(readMarkdown('```\na\nb')).toEqual([{ kind: 'code', text: 'a\nb' }]);
  });

  test('blocks inside blocks end at a depth, and what is inside is shown', () => {
    expect(depthOf(readMarkdown(`${'> '.repeat(16_000)}x`))).toBe(16);
    expect(depthOf(readMarkdown(`${'- '.repeat(16_000)}x`))).toBeLessThanOrEqual(16);
    expect(JSON.stringify(readMarkdown(`${'> '.repeat(16_000)}the end`))).toContain('the end');
  });

  test('a paragraph of countless signs is text', () => {
    expect(readMarkdown('_*a'.repeat(20_000))).toEqual([paragraph('_*a'.repeat(20_000))]);
    expect(readMarkdown('**['.repeat(20_000))).toEqual([paragraph('**['.repeat(20_000))]);
  });
});

/** How many blocks are inside each other. */
function depthOf(blocks: readonly Block[]): number {
  const [block] = blocks;
  if (block?.kind === 'quote') return 1 + depthOf(block.blocks);
  return block?.kind === 'list' ? 1 + depthOf(block.items[0] ?? []) : 0;
}

test('plain words do not look like Markdown', () => {
  const plain = ['I will refund 500 now.', 'a - b', '2 * 3'];
  const marked = ['# Title', 'a **b**', '- item', '~~~\ncode\n~~~', 'Title\n===='];
  expect([...plain, ...marked].map(looksLikeMarkdown)).toEqual([...plain.map(() => false), ...marked.map(() => true)]);
});
