import { BoundedMap } from '../../core/bounded-map.ts';
import { given, stringAt } from '../../core/json.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { ProtocolAnswer, ProtocolRequest } from '../../protocols/protocol.ts';

/** Conversations that are remembered for one recorder; a request that names an older one is recorded as it was sent. */
const historiesMax = 1_000;

type History = Pick<ProtocolRequest, 'messages' | 'system' | 'tools'>;

const memories = new WeakMap<Recorder, BoundedMap<string, History>>();

function memoryOf(recorder: Recorder): BoundedMap<string, History> {
  const memory = memories.get(recorder) ?? new BoundedMap<string, History>(historiesMax);
  memories.set(recorder, memory);
  return memory;
}

/** Remembers the conversation that an answer ends, by the id that the provider gave the answer. */
export function rememberHistory(recorder: Recorder, request: ProtocolRequest, answer: ProtocolAnswer): void {
  const id = stringAt(answer.provider, 'id');
  if (id === undefined || answer.message === undefined) return;
  const { messages, system, tools } = request;
  memoryOf(recorder).set(id, { messages: [...messages, answer.message], ...given({ system, tools }) });
}

/**
 * Completes a request that names an earlier answer instead of sending what was said before: the model knew all of it.
 * `keepsSettings` is for a provider that remembers the system prompt and the tools, too.
 */
export function completeRequest(
  recorder: Recorder,
  request: ProtocolRequest,
  { previous, keepsSettings }: { readonly previous: string | undefined; readonly keepsSettings: boolean },
): ProtocolRequest {
  const before = previous === undefined ? undefined : memoryOf(recorder).get(previous);
  if (before === undefined) return request;
  const { messages, ...settings } = before;
  return { ...(keepsSettings ? settings : {}), ...request, messages: [...messages, ...request.messages] };
}
