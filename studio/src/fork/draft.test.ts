import { expect, test } from 'vitest';
import type { Edit } from '../../../src/core/view/edit.ts';
import { editContent, editText, withContent } from './draft.ts';

const edits: readonly Edit[] = [
  { kind: 'prompt', text: 'Hello' },
  { kind: 'system', text: 'Be kind' },
  { kind: 'model', model: 'small-1' },
  { kind: 'tools', tools: [{ name: 'lookup' }] },
  { kind: 'message', seq: 4, message: { role: 'user', content: 'Hi' } },
  { kind: 'message', seq: 4, message: { role: 'user', content: [{ type: 'text', text: 'Hi' }] } },
  { kind: 'toolInput', call: 5, input: { order: 7 } },
  { kind: 'toolResult', call: 6, output: 'text' },
  { kind: 'state', key: 'amount', value: 50 },
  { kind: 'belief', belief: { topic: 't', claim: 'c' } },
];

test.each(edits)('the content of an edit can be taken out and put back: $kind', (edit) => {
  expect(withContent(edit, editContent(edit).text)).toEqual(edit);
  expect(editText(edit).what).not.toBe('');
});

test('content of the wrong form is refused', () => {
  const [, , , tools] = edits;
  if (tools === undefined) throw new Error('unreachable');
  expect(() => withContent(tools, '{}')).toThrow(/a list of tools/);
  expect(() => withContent(tools, '[')).toThrow(SyntaxError);
});
