import type { HttpResponse } from './listener.ts';
import { queuedBytes } from './stalled-clients.ts';

/** Bytes that may wait for a client before nothing more is read for it: enough that it seldom waits for the server. */
const queuedBytesMax = 1_048_576;

/** Sends pages of strings as lines; an empty page is a beat, which is an empty line. */
export async function sendLines(
  response: HttpResponse,
  lines: AsyncGenerator<readonly string[], void, undefined>,
  left: AbortSignal,
): Promise<void> {
  // The first lines come before the headers, so that a mistake in the request still gets its status.
  let next = await lines.next();
  response.setHeader('content-type', 'application/x-ndjson');
  for (; next.done !== true; next = await lines.next()) {
    await sendPiece(response, next.value.length === 0 ? '\n' : `${next.value.join('\n')}\n`, left);
    if (left.aborted) break;
  }
  await lines.return();
  response.end();
}

/** Sends a piece of an answer, and waits while the client has not taken the pieces before it. */
export async function sendPiece(response: HttpResponse, text: string, left: AbortSignal): Promise<void> {
  // Bytes go out as they are; a string would be measured and turned into bytes piece by piece.
  write(response, Buffer.from(text));
  if (queuedBytes(response) > queuedBytesMax && !left.aborted) await drained(response);
}

/** Returns a signal that aborts when the client leaves. */
export function leaving(response: HttpResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => left.abort());
  return left.signal;
}

/** Waits until a client has taken what was written, or has left. */
function drained(response: HttpResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end);
      response.off('close', end);
      resolve();
    };
    response.on('drain', end);
    response.on('close', end);
  });
}

function write(response: HttpResponse, bytes: Buffer): void {
  if ('stream' in response) response.write(bytes);
  else response.write(bytes);
}
