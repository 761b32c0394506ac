import { Code, ConnectError } from '@connectrpc/connect';
import { beatMs } from '../wire/protocol.ts';

/** How long a stream may say nothing; the server shows several times as often that it is there. */
const silenceMsMax = 3 * beatMs;

/** Reads a stream, and gives it up if it says nothing for too long: its connection may have been lost without a word. */
export async function* awake<Message>(
  open: (signal: AbortSignal) => AsyncIterable<Message>,
  signal: AbortSignal,
): AsyncGenerator<Message, void, undefined> {
  const silence = new AbortController();
  const wait = (): NodeJS.Timeout => setTimeout(() => silence.abort(), silenceMsMax);
  let timer = wait();
  try {
    for await (const message of open(AbortSignal.any([signal, silence.signal]))) {
      clearTimeout(timer);
      yield message;
      timer = wait();
    }
  } catch (error) {
    if (!silence.signal.aborted || signal.aborted) throw error;
    throw new ConnectError('The server says nothing', Code.Unavailable, undefined, undefined, error);
  } finally {
    clearTimeout(timer);
    // Leaving the loop alone does not end the call.
    silence.abort();
  }
}
