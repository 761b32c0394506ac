import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { validateResponse, validateTrailer } from '@connectrpc/connect/protocol-grpc';
import type { Http2SessionManager } from '@connectrpc/connect-node';

/** Where calls go, and how they are made. */
interface UnaryParts {
  readonly url: string;
  /** The headers of every call. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sessions: Http2SessionManager;
  /** Makes every other call. */
  readonly transport: Transport;
}

/**
 * Makes calls with one message each way by gRPC without what the framework does for streams and other protocols, which
 * takes longer than such a call itself. The framework makes the others.
 */
export function withUnary({ url, headers, sessions, transport }: UnaryParts): Transport {
  const prefix = new URL(url).pathname.replace(/\/$/, '');
  return {
    unary: async (method, signal, timeoutMs, header, input, values) => {
      const isPlain = signal === undefined && timeoutMs === undefined && header === undefined;
      if (!isPlain) return await transport.unary(method, signal, timeoutMs, header, input, values);
      const path = `${prefix}/${method.parent.typeName}/${method.name}`;
      const stream = await sessions.request('POST', path, { ...grpcHeaders, ...headers }, {});
      const answer = answerOf(stream, () => sessions.notifyResponseByteRead(stream));
      stream.end(framed(method, input));
      const message = messageIn(method, await answer);
      return { stream: false, service: method.parent, method, header: none, trailer: none, message };
    },
    stream: (...call) => transport.stream(...call),
  };
}

const grpcHeaders = { 'content-type': 'application/grpc+proto', te: 'trailers' };
const none: Headers = new Headers();

/** The bytes before a message: whether it is compressed, and its length. */
const headBytes = 5;

function framed<I extends DescMessage, O extends DescMessage>(
  { input }: DescMethodUnary<I, O>,
  value: MessageInitShape<I>,
): Buffer {
  const message = toBinary(input, create(input, value));
  const frame = Buffer.allocUnsafe(headBytes + message.length);
  frame.writeUInt8(0);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, headBytes);
  return frame;
}

/** An answer as it came. */
interface RawAnswer {
  readonly headers: IncomingHttpHeaders & { readonly ':status'?: number };
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Reads the answer to a call. An answer that is cut is lost: it is unknown whether the server made the call. */
function answerOf(stream: ClientHttp2Stream, onBytes: () => void): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let headers: RawAnswer['headers'] | undefined;
    let trailers: IncomingHttpHeaders = {};
    stream.on('response', (found: RawAnswer['headers']) => {
      onBytes();
      headers = found;
    });
    stream.on('trailers', (found: IncomingHttpHeaders) => {
      trailers = found;
    });
    stream.on('data', (chunk: Buffer) => {
      onBytes();
      chunks.push(chunk);
    });
    stream.on('end', () => {
      const isWhole = stream.rstCode === 0 && headers !== undefined;
      if (isWhole) resolve({ headers: headers ?? {}, trailers, body: Buffer.concat(chunks) });
    });
    stream.on('error', (error) => reject(lost(error)));
    stream.on('close', () => reject(lost(new Error('The connection was closed before the answer'))));
  });
}

function lost(error: Error): ConnectError {
  return new ConnectError(error.message, Code.Unavailable, undefined, undefined, error);
}

/** Returns the message of an answer, or throws the error that it carries. */
function messageIn<I extends DescMessage, O extends DescMessage>(
  { output }: DescMethodUnary<I, O>,
  { headers, trailers, body }: RawAnswer,
): MessageShape<O> {
  const isFine = headers[':status'] === 200 && trailers['grpc-status'] === '0';
  if (!isFine) {
    const sent = webHeaders(headers);
    const { headerError } = validateResponse(headers[':status'] ?? 0, sent);
    if (headerError !== undefined) throw headerError;
    validateTrailer(webHeaders(trailers), sent);
  }
  // Compressed answers were not asked for.
  if (body.length < headBytes || body.readUInt8(0) !== 0 || body.readUInt32BE(1) !== body.length - headBytes)
    throw new ConnectError('The server sent an answer that is not one message', Code.Internal);
  return fromBinary(output, body.subarray(headBytes));
}

function webHeaders(headers: IncomingHttpHeaders): Headers {
  const texts = Object.entries(headers).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return new Headers(texts.filter(([name]) => !name.startsWith(':')));
}
