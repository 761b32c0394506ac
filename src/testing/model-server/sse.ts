import type { ServerResponse } from 'node:http';
import type { StreamEvent } from '../../protocols/protocol.ts';
import { sseText } from '../../protocols/sse.ts';
import type { ReplyPace } from './script.ts';

/** One server-sent event of a stream. */
export interface SsePiece extends StreamEvent {
  /** Whether it carries a piece of the reply. */
  readonly spoken: boolean;
}

/** The outcome of a reply: all of it was written, the script cut it, or the client was gone. */
export type Sent = 'answered' | 'cut' | 'aborted';

/** Waits for a time, or until the client is gone. */
export async function wait(response: ServerResponse, ms: number | undefined): Promise<void> {
  if (ms === undefined || ms <= 0 || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    response.once('close', done);
  });
}

/** Writes a stream at its pace. */
export async function sendStream(response: ServerResponse, pieces: Iterable<SsePiece>, pace: ReplyPace): Promise<Sent> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  let spoken = 0;
  for (const piece of pieces) {
    if (piece.spoken) {
      if (spoken === pace.cutAfter) return cut(response);
      if (spoken > 0) await wait(response, pace.pieceMs);
      spoken++;
    }
    if (response.destroyed) return 'aborted';
    await write(response, sseText(piece), pace);
  }
  if (pace.cutAfter !== undefined) return cut(response);
  return await finish(response);
}

/** Writes a whole body at its pace. */
export async function sendWhole(response: ServerResponse, body: string, pace: ReplyPace): Promise<Sent> {
  response.writeHead(200, { 'content-type': 'application/json' });
  if (pace.cutAfter !== undefined) {
    await write(response, body.slice(0, body.length / 2), pace);
    return cut(response);
  }
  await write(response, body, pace);
  return await finish(response);
}

/** Long enough for written data to leave on its own. */
const apartMs = 2;

async function write(response: ServerResponse, written: string, pace: ReplyPace): Promise<void> {
  let bytes = Buffer.from(written, 'utf8');
  while (pace.splitCharacters === true && !response.destroyed) {
    const lead = bytes.findIndex((byte) => byte >= 0xc0);
    if (lead < 0) break;
    response.write(bytes.subarray(0, lead + 1));
    await wait(response, apartMs);
    bytes = bytes.subarray(lead + 1);
  }
  // Waits for a client that does not read, so that the stream does not pile up.
  if (!response.write(bytes)) await drained(response);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
}

/** Cuts a connection after written data has left: destroying a socket drops what still waits in it. */
async function cut(response: ServerResponse): Promise<Sent> {
  await wait(response, apartMs);
  response.destroy();
  return 'cut';
}

async function finish(response: ServerResponse): Promise<Sent> {
  if (response.destroyed) return 'aborted';
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.end(resolve);
  });
  return response.writableFinished ? 'answered' : 'aborted';
}
