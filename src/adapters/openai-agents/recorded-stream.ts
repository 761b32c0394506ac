import type { StreamEvent } from '@openai/agents';
import { isObject, type JsonObject, valueAt } from '../../core/json.ts';
import type { CallEnd, OpenCall } from '../../core/recording/recorder.ts';
import { endOfFailure, endOfStream, toldByPiece } from './model-call.ts';

interface StreamContext {
  readonly call: OpenCall;
  readonly signal: AbortSignal | undefined;
}

/**
 * Returns a stream that passes every event on as it comes and records the answer at its end. If it is cut, fails or is
 * left early, the part so far is recorded.
 */
export async function* recordedStream(
  open: () => AsyncIterable<StreamEvent>,
  { call, signal }: StreamContext,
): AsyncGenerator<StreamEvent, void, undefined> {
  let said = '';
  let told: JsonObject = {};
  let source: AsyncIterator<StreamEvent> | undefined;
  try {
    const events = call.within(() => open()[Symbol.asyncIterator]());
    source = events;
    for (;;) {
      const { done, value } = await call.within(() => events.next());
      if (done === true) break;
      try {
        if (bringsToken(value)) call.firstToken();
        if (value.type === 'output_text_delta') {
          said += value.delta;
          call.text(value.delta);
        }
        if (value.type === 'model' && isObject(value.event)) told = toldByPiece(told, value.event);
        // The reader may leave as soon as the answer is done, so record it first.
        if (value.type === 'response_done') call.end(endOfStream(value, told));
      } catch (error) {
        // The agent gets the answer, even if it cannot be recorded.
        call.end({ outcome: 'ok', error });
      }
      yield value;
    }
    source = undefined;
    call.end({ outcome: 'interrupted', ...partial(said), error: new Error('The stream ended before its answer did') });
  } catch (error) {
    source = undefined;
    call.end({ ...partial(said), ...endOfFailure(error, signal) });
    throw error;
  } finally {
    call.end({ outcome: 'aborted', ...partial(said) });
    await source?.return?.();
  }
}

function partial(said: string): CallEnd {
  return said === '' ? {} : { message: { role: 'assistant', content: said } };
}

/** Returns true if an event brings text, or a piece of an argument or of reasoning. */
function bringsToken(event: StreamEvent): boolean {
  if (event.type === 'output_text_delta') return true;
  if (event.type !== 'model' || !isObject(event.event)) return false;
  const raw: JsonObject = event.event;
  if (typeof raw['type'] === 'string') return raw['type'].endsWith('.delta');
  const delta = valueAt(raw, ['choices', '0', 'delta']);
  return isObject(delta) && (Boolean(delta['content']) || delta['tool_calls'] !== undefined);
}
