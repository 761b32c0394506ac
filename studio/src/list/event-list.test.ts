import { expect, test } from 'vitest';
import { shortLine } from './event-list.tsx';

test.each([
  [
    'model small-1  ok  148 tok  $0.0002  69ms  assistant: → refund({"amount":500})',
    'small-1',
    'assistant: → refund({"amount":500})',
  ],
  ['refund  (irreversible)  {"amount":500}', 'refund', '{"amount":500}'],
  ['refund  error: it broke  0ms', 'refund', 'it broke', 'error'],
  ['bash  ok  error: no such file', 'bash', 'error: no such file'],
  ['model large-1  ok  2.1s  assistant: ## Plan⏎⏎1. Test', 'large-1', 'assistant: ## Plan 1. Test'],
  ['user: Order 7 broke', 'user', 'Order 7 broke'],
  ['refund  ok  simulated  {"paid":50}', 'refund', '{"paid":50}'],
])('a line leaves out what stands beside it: %s', (line, name, short, outcome = 'ok') => {
  expect(shortLine(line, name, outcome)).toBe(short);
});
