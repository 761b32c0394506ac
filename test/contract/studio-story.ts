import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventDraft } from '../../src/core/event/event.ts';
import type { JsonInput } from '../../src/core/json.ts';
import { openReprise, type Reprise, type Session } from '../../src/index.ts';

/** A store with the history that the studio is tested on. */
export interface StudioStory extends AsyncDisposable {
  readonly reprise: Reprise;
  readonly session: Session;
}

const user = (content: string) => ({ role: 'user', content });
const looksUp = {
  role: 'assistant',
  content: [
    { type: 'text', text: 'I look it up.' },
    { type: 'tool-call', toolCallId: 't1', toolName: 'lookup', input: { order: 7 } },
  ],
};
const tools = [{ name: 'lookup', description: 'Shows an order' }];

function timed(seconds: number, type: string, data: JsonInput): EventDraft {
  const time = new Date(Date.UTC(2026, 10, 15, 10, 0, seconds)).toISOString();
  return { type, time, agent: 'support', run: 'run-1', data };
}

/** The events of the story: two model calls with a tool between them, state that changes, and an error at the end. */
export const storyEvents: readonly EventDraft[] = [
  { ...timed(0, 'run.started', { title: 'Refund of order 7' }), id: 'e-1' },
  { ...timed(1, 'message.added', { message: user('Order 7 broke.') }), id: 'e-2' },
  {
    ...timed(2, 'call.started', {
      call: 'm1',
      kind: 'model',
      name: 'large-1',
      request: { system: 'Be kind.', messages: [user('Order 7 broke.')], tools, settings: { temperature: 0 } },
    }),
    id: 'e-3',
    cause: 'e-2',
  },
  {
    ...timed(5, 'call.ended', {
      call: 'm1',
      kind: 'model',
      name: 'large-1',
      outcome: 'ok',
      message: looksUp,
      usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40 },
      cost: 0.002,
      latencyMs: 3000,
      firstTokenMs: 600,
    }),
    id: 'e-4',
    cause: 'e-3',
  },
  {
    ...timed(6, 'call.started', { call: 't1', kind: 'tool', name: 'lookup', effect: 'pure', input: { order: 7 } }),
    id: 'e-5',
    cause: 'e-4',
  },
  {
    ...timed(7, 'call.ended', { call: 't1', kind: 'tool', name: 'lookup', outcome: 'ok', output: { paid: 50 } }),
    id: 'e-6',
    cause: 'e-5',
  },
  {
    ...timed(8, 'state.committed', {
      operations: [{ agent: 'support', key: 'amount', op: 'write', value: 500, version: 1 }],
    }),
    id: 'e-7',
  },
  {
    ...timed(9, 'call.started', {
      call: 'm2',
      kind: 'model',
      name: 'large-1',
      request: {
        system: 'Be kind and brief.',
        messages: [
          user('Order 7 broke.'),
          looksUp,
          {
            role: 'tool',
            content: [{ type: 'tool-result', toolCallId: 't1', toolName: 'lookup', output: { paid: 50 } }],
          },
        ],
        tools,
        settings: { temperature: 1 },
      },
    }),
    id: 'e-8',
    cause: 'e-6',
  },
  {
    ...timed(13, 'call.ended', {
      call: 'm2',
      kind: 'model',
      name: 'large-1',
      outcome: 'error',
      error: { name: 'Error', message: 'The model is away' },
      latencyMs: 4000,
    }),
    id: 'e-9',
    cause: 'e-8',
  },
  { ...timed(14, 'run.ended', { outcome: 'error' }), id: 'e-10' },
];

/** Opens the story on a store of a kind. */
export async function studioStory(
  kind: 'memory' | 'sqlite',
  events: readonly EventDraft[] = storyEvents,
): Promise<StudioStory> {
  const directory = kind === 'sqlite' ? mkdtempSync(join(tmpdir(), 'reprise-studio-')) : undefined;
  const reprise = await openReprise({
    store: directory === undefined ? 'memory:' : `sqlite:${join(directory, 'a.db')}`,
    durability: 'process',
    config: false,
  });
  const session = await reprise.createSession('demo');
  if (events.length > 0) await session.append(events);
  return {
    reprise,
    session,
    [Symbol.asyncDispose]: async () => {
      await reprise.close();
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}
