/** The world of the AI SDK adapter's tests: a scripted model, and the log as a table. */
import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import type { JsonObject } from '../../src/core/json.ts';
import { createNodePlatform, type Event, openReprise, type Reprise, type Session } from '../../src/index.ts';
import type { Platform } from '../../src/store.ts';

export const usage = {
  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: 0 },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};

/** One answer of a model. */
export function said(...content: readonly (string | LanguageModelV4Content)[]): LanguageModelV4GenerateResult {
  const parts = content.map((part) => (typeof part === 'string' ? ({ type: 'text', text: part } as const) : part));
  const asks = parts.some((part) => part.type === 'tool-call' && part.providerExecuted !== true);
  const reason = asks ? ('tool-calls' as const) : ('stop' as const);
  return { content: parts, finishReason: { unified: reason, raw: reason }, usage, warnings: [] };
}

/** A model asks for a tool. */
export function asks(toolName: string, input: object, toolCallId = 't1'): LanguageModelV4Content {
  return { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) };
}

/** A model that says one thing after the other, whole or streamed; an error is thrown. */
export function scripted(
  answers: readonly (LanguageModelV4GenerateResult | Error)[],
  modelId = 'mock-1',
): MockLanguageModelV4 {
  let next = 0;
  const answer = (): LanguageModelV4GenerateResult => {
    const said = answers[Math.min(next++, answers.length - 1)];
    if (said === undefined || said instanceof Error) throw said;
    return said;
  };
  return new MockLanguageModelV4({
    modelId,
    provider: 'mock',
    doGenerate: async () => answer(),
    doStream: async () => ({ stream: streamOf(partsOf(answer())), response: { headers: { 'x-request-id': 'r1' } } }),
  });
}

/** The parts in which an answer is streamed: words, one by one. */
export function partsOf({ content, finishReason }: LanguageModelV4GenerateResult): LanguageModelV4StreamPart[] {
  const parts = content.flatMap((part, index): LanguageModelV4StreamPart[] => {
    const id = String(index);
    if (part.type === 'tool-call') return [part];
    if (part.type !== 'text') return [];
    const deltas = part.text.split(/(?<= )/).map((delta) => ({ type: 'text-delta', id, delta }) as const);
    return [{ type: 'text-start', id }, ...deltas, { type: 'text-end', id }];
  });
  return [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }];
}

function streamOf<T>(parts: readonly T[]): ReadableStream<T> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** A weather tool that counts how often it was executed. */
export function weatherTools(executed: string[] = []) {
  return {
    weather: tool({
      description: 'The weather in a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        executed.push(city);
        return { city, degrees: 7 };
      },
    }),
  };
}

/** A store with an empty session. */
export async function openSession(
  platform: Partial<Platform> = {},
): Promise<{ reprise: Reprise; session: Session } & AsyncDisposable> {
  const reprise = await openReprise({ store: 'memory:', platform: { ...createNodePlatform(), ...platform } });
  const session = await reprise.createSession('ai');
  return { reprise, session, [Symbol.asyncDispose]: () => reprise[Symbol.asyncDispose]() };
}

/** Every event of a branch. */
export async function eventsOf(session: Session, branch = 'main'): Promise<Event[]> {
  return Array.fromAsync(session.at(branch).replay({ history: 'raw' }));
}

/** A table of what happened: type, kind and name, and the seq of the cause. */
export function tableOf(events: readonly Event[]): string[] {
  return events.map(({ type, data, causeSeq, turn }) => {
    const { kind = '', name = '', outcome = '' } = data as Record<string, string>;
    return [type, kind, name, outcome, `cause ${causeSeq ?? 0}`, `turn ${turn}`]
      .filter((word) => word !== '')
      .join(' ');
  });
}

/** The data of the events of a type, of one kind if given. */
export function dataOf(events: readonly Event[], type: string, kind?: string): JsonObject[] {
  return events.filter((e) => e.type === type && (kind === undefined || e.data['kind'] === kind)).map((e) => e.data);
}
