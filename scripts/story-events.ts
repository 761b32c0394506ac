/** What the agents of the story did. */
import type { EventDraft } from '../src/index.ts';

const question = 'Order 7 arrived broken. Please refund it.';
const system = 'You are a support agent. Resolve refunds quickly.';

/** The instructions that make the difference. */
export const better = 'You are a support agent. Look the order up before you refund it.';

/** It asked a model, the model called a tool with a guess, and the guess was wrong. */
export function recording(now: number = Date.now()): EventDraft[] {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: question },
  ];
  const model = { call: 'm1', kind: 'model', name: 'small-1' };
  const tool = { call: 'c1', kind: 'tool', name: 'refund' };
  const input = { order: 7, amount: 500 };
  const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'refund', input };
  const spent = { usage: { inputTokens: 212, outputTokens: 18 }, cost: 0.0004 };
  const drafts: EventDraft[] = [
    { type: 'run.started', data: { title: 'Refund of order 7' } },
    { type: 'message.added', turn: 1, data: { message: { role: 'user', content: question } } },
    { type: 'call.started', data: { ...model, request: { messages } } },
    {
      type: 'call.ended',
      data: { ...model, ...spent, outcome: 'ok', message: { role: 'assistant', content: [call] } },
    },
    { type: 'call.started', data: { ...tool, effect: 'irreversible', input } },
    { type: 'call.ended', data: { ...tool, outcome: 'ok', output: { refunded: 500, paid: 50 } } },
    { type: 'run.ended', data: { outcome: 'ok', result: 'Refunded 500.' } },
  ];
  return timed(drafts, now - 5_000);
}

/** What the same agent does, in the same run, from the fork with better instructions. */
export function continuation(now: number = Date.now()): EventDraft[] {
  const messages = [
    { role: 'system', content: better },
    { role: 'user', content: question },
  ];
  const model = { call: 'm2', kind: 'model', name: 'small-1' };
  const lookup = { call: 'c2', kind: 'tool', name: 'lookup' };
  const refund = { call: 'c3', kind: 'tool', name: 'refund' };
  const call = { type: 'tool-call', toolCallId: 'c2', toolName: 'lookup', input: { order: 7 } };
  const spent = { usage: { inputTokens: 219, outputTokens: 15 }, cost: 0.0004 };
  const drafts: EventDraft[] = [
    { type: 'call.started', turn: 1, data: { ...model, request: { messages } } },
    {
      type: 'call.ended',
      data: { ...model, ...spent, outcome: 'ok', message: { role: 'assistant', content: [call] } },
    },
    { type: 'call.started', data: { ...lookup, effect: 'pure', input: { order: 7 } } },
    { type: 'call.ended', data: { ...lookup, outcome: 'ok', output: { order: 7, paid: 50 } } },
    { type: 'call.started', data: { ...refund, effect: 'irreversible', input: { order: 7, amount: 50 } } },
    { type: 'call.ended', data: { ...refund, outcome: 'ok', output: { refunded: 50, paid: 50 } } },
    { type: 'run.ended', data: { outcome: 'ok', result: 'Refunded 50.' } },
  ];
  return timed(drafts, now);
}

function timed(drafts: readonly EventDraft[], start: number): EventDraft[] {
  return drafts.map((draft, index) => ({
    agent: 'support',
    run: 'run-1',
    time: new Date(start + index * 420).toISOString(),
    ...draft,
  }));
}
