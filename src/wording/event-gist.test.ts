import { describe, expect, test } from 'vitest';
import { eventTypes } from '../core/event/catalogue.ts';
import type { Event } from '../core/event/event.ts';
import { detailOf, gitText, short } from './event-gist.ts';

const detail = (type: string, data: object, more: object = {}): string =>
  detailOf({ type, data, ...more } as unknown as Event);

describe('detailOf()', () => {
  test.each<[string, object, string]>([
    [
      'run.started',
      { title: 'Nightly', git: { branch: 'main', sha: '1a2b3c4d5e6f', dirty: true } },
      'Nightly  main 1a2b3c4d*',
    ],
    ['run.ended', { outcome: 'error', error: { name: 'Error', message: 'no money' } }, 'error: no money'],
    ['message.added', { message: { role: 'user', content: 'Hi\nthere' } }, 'user: Hi⏎there'],
    [
      'message.added',
      { message: { role: 'assistant', content: [{ providerOptions: {}, type: 'reasoning', text: 'Look it up.' }] } },
      'assistant: (thinking) Look it up.',
    ],
    [
      'settings.changed',
      { model: 'large-1', tools: [{}, {}], system: 'Be brief.' },
      'large-1  2 tools  system: Be brief.',
    ],
    [
      'call.started',
      { kind: 'tool', name: 'refund', effect: 'irreversible', input: { order: 7 } },
      'refund  (irreversible)  {"order":7}',
    ],
    [
      'call.ended',
      {
        kind: 'model',
        name: 'small-1',
        outcome: 'ok',
        usage: { inputTokens: 800, outputTokens: 45 },
        cost: 0.0021,
        latencyMs: 812,
      },
      'model small-1  ok  845 tok  $0.0021  812ms',
    ],
    [
      'call.ended',
      { kind: 'http', name: 'https://x', outcome: 'aborted', reused: true },
      'http https://x  aborted  reused',
    ],
    ['agent.spawned', { role: 'reviewer', model: 'large-1', scope: ['db'] }, 'role reviewer  large-1  sees db'],
    ['agent.changed', { scope: [] }, 'sees nothing'],
    ['task.claimed', { task: 't', model: 'large-1' }, 'large-1'],
    ['task.ended', { task: 't', outcome: 'ok', cost: 1.5 }, 'ok  $1.50'],
    ['verification.failed', { task: 't', signals: ['tests', 'lint'] }, 'failed: tests, lint'],
    [
      'tests.ran',
      { command: 'npm test', exitCode: 1, failures: [{ test: 'parser' }] },
      'npm test  exit 1  failed: parser',
    ],
    [
      'state.committed',
      {
        operations: [
          { key: 'a', op: 'write', value: 1 },
          { key: 'b', op: 'delete' },
        ],
      },
      'a = 1; delete b',
    ],
    ['belief.committed', { topic: 'db', claim: 'It is full', trust: 0.8 }, '[db]  It is full  trust 0.8'],
    [
      'event.replaced',
      { seq: 3, event: { type: 'note.added', data: { text: 'x' } }, reason: 'why' },
      '3 → note.added x  “why”',
    ],
    ['branch.rewound', { toTurn: 3, seqs: [] }, 'to turn 3'],
    ['channel.saved', { namespace: '', channel: 'plan', type: 'json', text: '"ask"' }, 'plan = "ask"'],
    [
      'channel.saved',
      {
        namespace: 'sub:1',
        channel: 'messages',
        items: ['{}', '{"lc":1,"kwargs":{"content":"say \\"hi\\"","id":"m2"}}'],
      },
      '[sub:1]  messages = 2 items, last say "hi"',
    ],
    [
      'graph.saved',
      { namespace: '', saved: '1ef', source: 'loop', changed: ['messages'] },
      'loop  1ef  changed messages',
    ],
    [
      'graph.wrote',
      { namespace: '', saved: '1ef', writes: [{ index: 0, channel: 'plan', type: 'json', text: '1' }] },
      'plan = 1  on 1ef',
    ],
    ['branch.forked', { parent: { seq: 12 }, reason: 'too broad' }, 'at 12  “too broad”'],
    ['something.unknown', { a: 1, b: { c: 'd' } }, 'a=1 b={"c":"d"}'],
  ])('of %s %j', (type, data, expected) => {
    expect(detail(type, data)).toBe(expected);
  });

  test('copes with every type that Reprise writes, with its example, without data, and erased', () => {
    for (const [type, { example }] of Object.entries(eventTypes)) {
      expect(detail(type, example).length).toBeGreaterThanOrEqual(0);
      expect(detail(type, {})).not.toContain('[object');
      expect(detail(type, { erased: true }, { erased: true })).toBe('payload erased');
    }
  });

  test('is one line of bounded length without anything a terminal would obey', () => {
    const told = detail('note.added', { text: `\u001b[2J${'x\n'.repeat(1e6)}` });
    expect(told.startsWith('␛[2Jx⏎')).toBe(true);
    expect(told.length).toBeLessThanOrEqual(4_000);
  });
});

test('short() tells the size of what it cuts', () => {
  expect(short('x'.repeat(200))).toHaveLength(200);
  expect(short('語'.repeat(1_000))).toBe(`${'語'.repeat(200)}… (3.0 kB)`);
  expect(short(undefined)).toBe('');
  expect(short(null)).toBe('null');
});

test('gitText() copes with what is missing', () => {
  expect(gitText({ branch: 'main' })).toBe('main');
  expect(gitText({ sha: '1a2b3c4d5e' })).toBe('1a2b3c4d');
  expect(gitText(null)).toBe('');
});
