import { AsyncLocalStorage } from 'node:async_hooks';
import { getCurrentSpan, type SpanError } from '@openai/agents';

/** Where a failure that happens here is told. */
const watching = new AsyncLocalStorage<(error: SpanError) => void>();
const listening = new WeakSet<object>();

/**
 * Runs a tool and says whether it failed. The framework turns what a tool throws into a text for the model before anyone
 * else sees it, and notes the failure only on its current span: that note is what is listened to.
 */
export async function withFailure<T>(
  body: () => Promise<T>,
): Promise<{ readonly result: T; readonly failure: SpanError | undefined }> {
  listen();
  let failure: SpanError | undefined;
  const result = await watching.run((error) => {
    failure ??= error;
  }, body);
  return { result, failure };
}

/** Parallel tools may share a span, so a span is listened to once and the async context says whose failure it is. */
function listen(): void {
  const span = getCurrentSpan();
  if (span === null || listening.has(span)) return;
  listening.add(span);
  const setError = span.setError.bind(span);
  const value = (error: SpanError): void => {
    watching.getStore()?.(error);
    setError(error);
  };
  // Not enumerable: spans travel inside requests, which a program may copy.
  Object.defineProperty(span, 'setError', { value, configurable: true, writable: true });
}
