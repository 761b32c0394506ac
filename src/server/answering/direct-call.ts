import { create, type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import type { HttpRequest, HttpResponse } from '../http/listener.ts';

/** A call with one message each way, without what the framework does for streams and other protocols. */
export interface DirectCall {
  readonly method: DescMethod;
  readonly run: (message: Message, context: HandlerContext) => Promise<object>;
}

/**
 * Passes services on to a router, and notes their calls that have one message each way. Most calls of a remote store are
 * such calls by gRPC, and the framework takes longer to read and write one than the store takes to answer it.
 */
export function noting(router: ConnectRouter, calls: Map<string, DirectCall>): ConnectRouter {
  const service: ConnectRouter['service'] = (described, implementation, options) => {
    router.service(described, implementation, options);
    for (const method of described.methods) {
      const run: unknown = Reflect.get(implementation, method.localName);
      if (method.methodKind !== 'unary' || typeof run !== 'function') continue;
      calls.set(`/${described.typeName}/${method.name}`, {
        method,
        run: async (message, context) => (await Reflect.apply(run, implementation, [message, context])) as object,
      });
    }
    return noted;
  };
  const noted: ConnectRouter = { ...router, service };
  return noted;
}

/** Returns true if a request can be answered directly: by gRPC on HTTP/2, as it comes, for as long as it takes. */
export function isDirect({ headers }: HttpRequest, response: HttpResponse): boolean {
  const type = headers['content-type'];
  return (
    'stream' in response &&
    (type === 'application/grpc+proto' || type === 'application/grpc') &&
    headers['grpc-timeout'] === undefined &&
    (headers['grpc-encoding'] === undefined || headers['grpc-encoding'] === 'identity')
  );
}

/** The bytes before a message: whether it is compressed, and its length. */
const headBytes = 5;

/** Reads the body of a request; `take` counts its bytes. Ends early if its message has more than `bytesMax`. */
export function wholeBody(request: HttpRequest, bytesMax: number, take: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer): void => {
      try {
        take(chunk.length);
        chunks.push(chunk);
        length += chunk.length;
        if (length <= bytesMax + headBytes) return;
        resolve(Buffer.concat(chunks));
      } catch (error) {
        reject(error as Error);
      }
      // Discards the rest.
      request.off('data', onData).resume();
    };
    request.on('data', onData);
    request.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    request.on('error', reject);
    request.on('close', () => reject(new Error('The client left (ECONNRESET)')));
  });
}

/** Returns the message of a body; undefined if it is not exactly one message of the call, as it came. */
export function messageIn({ method }: DirectCall, body: Buffer): Message | undefined {
  if (body.length < headBytes || body.readUInt8(0) !== 0 || body.readUInt32BE(1) !== body.length - headBytes)
    return undefined;
  try {
    return fromBinary(method.input, body.subarray(headBytes));
  } catch {
    return undefined;
  }
}

/** Makes a call, and returns its answer as bytes. */
export async function answerOf(
  { method, run }: DirectCall,
  message: Message,
  context: HandlerContext,
): Promise<Buffer> {
  const answer = toBinary(method.output, create(method.output, (await run(message, context)) as never));
  const frame = Buffer.allocUnsafe(headBytes + answer.length);
  frame.writeUInt8(0);
  frame.writeUInt32BE(answer.length, 1);
  frame.set(answer, headBytes);
  return frame;
}

/** Sends the answer to a call. */
export function sendAnswer(response: HttpResponse, type: string, answer: Buffer): void {
  if (!('stream' in response)) return;
  response.setHeader('content-type', type);
  response.addTrailers({ 'grpc-status': '0' });
  response.end(answer);
}
