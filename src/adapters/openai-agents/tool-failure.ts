import { AsyncLocalStorage } from 'node:async_hooks';
import { getCurrentSpan, type SpanError } from '@openai/agents';

/** The listener for failures in the current async context. */
const watching = new AsyncLocalStorage<(error: SpanError) => void>();
const listening = new WeakSet<object>();

/**
 * Runs a tool and returns its result, and its error if it failed. The framework turns a tool's error into text for the
 * model before anyone sees it, and notes the failure only on its current span; this listens to that note.
 */
export async function withFailure<T>(
  body: () => Promise<T>,
): Promise<{ readonly result: T; readonly error: Error | undefined }> {
  listen();
  let failure: SpanError | undefined;
  const result = await watching.run((error) => {
    failure ??= error;
  }, body);
  return { result, error: failure === undefined ? undefined : errorOf(failure, textSent(result)) };
}

/** Returns true if a tool was stopped because its time is up: only then the reason names the tool. */
export const isTimeout = (reason: unknown): boolean =>
  typeof reason === 'object' && reason !== null && 'toolName' in reason;

/** Returns the text of a value as the framework sends it to a model; empty if it cannot. */
export function textSent(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return '';
  }
}

/** Returns the error, if the program lets the framework show it; else the text that the model got. */
function errorOf({ data }: SpanError, text: string): Error {
  const told: unknown = data?.['error'];
  return new Error(typeof told === 'string' && !told.includes('redacted') ? told : text);
}

/**
 * Listens to the current span, once: parallel tools may share a span, and the async context tells whose failure it is.
 */
function listen(): void {
  const span = getCurrentSpan();
  if (span === null || listening.has(span)) return;
  listening.add(span);
  const setError = span.setError.bind(span);
  const value = (error: SpanError): void => {
    watching.getStore()?.(error);
    setError(error);
  };
  // Not enumerable: spans are part of requests, which a program may copy.
  Object.defineProperty(span, 'setError', { value, configurable: true, writable: true });
}
