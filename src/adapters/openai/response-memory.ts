import { BoundedMap } from '../../core/bounded-map.ts';
import { stringAt } from '../../core/json.ts';
import type { Message } from '../../core/message/message.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { ProtocolAnswer, ProtocolRequest } from '../../protocols/protocol.ts';

/** Responses that are remembered for one recorder; a request that names an older one is recorded as it was sent. */
const responsesMax = 1_000;

const memories = new WeakMap<Recorder, BoundedMap<string, readonly Message[]>>();

function memoryOf(recorder: Recorder): BoundedMap<string, readonly Message[]> {
  const memory = memories.get(recorder) ?? new BoundedMap<string, readonly Message[]>(responsesMax);
  memories.set(recorder, memory);
  return memory;
}

/** Remembers the conversation that a response ends. */
export function rememberResponse(recorder: Recorder, { messages }: ProtocolRequest, answer: ProtocolAnswer): void {
  const id = stringAt(answer.provider, 'id');
  if (id !== undefined && answer.message !== undefined) memoryOf(recorder).set(id, [...messages, answer.message]);
}

/** A request may name an earlier response instead of sending what was said before: the model knew all of it. */
export function completeRequest(recorder: Recorder, request: ProtocolRequest): ProtocolRequest {
  const previous = stringAt(request.settings, 'previous_response_id');
  const before = previous === undefined ? undefined : memoryOf(recorder).get(previous);
  return before === undefined ? request : { ...request, messages: [...before, ...request.messages] };
}
