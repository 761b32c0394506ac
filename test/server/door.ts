/** The faces of the door: a test asks for verbs by gRPC, by Connect, or with plain JSON. */
import { createClient, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { failureOf } from '../../src/client/call-error.ts';
import { parseJson } from '../../src/core/canonical-json.ts';
import type { JsonObject, JsonValue } from '../../src/core/json.ts';
import { VerbService } from '../../src/wire/generated/reprise/v1/verb_pb.ts';

/** The faces of a server. */
export const faces = ['grpc', 'connect', 'http'] as const;

/** One face of a server. */
export type Face = (typeof faces)[number];

/** A caller of verbs; arguments may be JSON text, as a program would send it. */
export interface DoorClient {
  readonly call: (verb: string, input?: JsonObject | string) => Promise<JsonValue>;
  readonly list: (verb: string, input?: JsonObject | string, signal?: AbortSignal) => AsyncGenerator<JsonValue>;
}

/** Returns a transport that sends a token with every call. */
export function transportOf(kind: 'grpc' | 'connect', url: string, token?: string): Transport {
  const withToken: Interceptor = (next) => (request) => {
    if (token !== undefined) request.header.set('authorization', `Bearer ${token}`);
    return next(request);
  };
  const options = { baseUrl: url, interceptors: [withToken] };
  return kind === 'grpc' ? createGrpcTransport(options) : createConnectTransport({ ...options, httpVersion: '1.1' });
}

/** Returns a caller by one face. */
export function doorOf(face: Face, url: string, token?: string): DoorClient {
  return face === 'http' ? plainDoor(url, token) : binaryDoor(transportOf(face, url, token));
}

const textOf = (input: JsonObject | string): string => (typeof input === 'string' ? input : JSON.stringify(input));

function binaryDoor(transport: Transport): DoorClient {
  const verbs = createClient(VerbService, transport);
  return {
    call: async (verb, input = {}) => parseJson((await verbs.call({ verb, arguments: textOf(input) })).answer),
    async *list(verb, input = {}, signal) {
      const request = { verb, arguments: textOf(input) };
      for await (const { answers } of verbs.stream(request, signal === undefined ? {} : { signal }))
        for (const text of answers) yield parseJson(text);
    },
  };
}

/** Throws the error of a plain answer as an object with its code. */
async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  throw Object.assign(new Error(error.message), error, { status: response.status });
}

function plainDoor(url: string, token: string | undefined): DoorClient {
  const post = async (verb: string, input: JsonObject | string, signal?: AbortSignal): Promise<Response> =>
    await checked(
      await fetch(`${url}/v1/${verb}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body: textOf(input),
        signal: signal ?? null,
      }),
    );
  return {
    call: async (verb, input = {}) => parseJson(await (await post(verb, input)).text()),
    async *list(verb, input = {}, signal) {
      const { body } = await post(verb, input, signal);
      let held = '';
      for await (const piece of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
        const lines = `${held}${piece}`.split('\n');
        held = lines.pop() ?? '';
        for (const line of lines) if (line !== '') yield parseJson(line);
      }
    },
  };
}

/** Returns the code with which a call is refused; "ok" if it is not. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  return (await errorOf(call)).code;
}

/** Returns the error of a call by any face. */
export async function errorOf(
  call: Promise<unknown>,
): Promise<{ readonly code: string; readonly message: string; readonly details: JsonObject }> {
  try {
    await call;
    return { code: 'ok', message: '', details: {} };
  } catch (thrown) {
    if (thrown instanceof Error && 'status' in thrown) return thrown as never;
    return failureOf(thrown).error as never;
  }
}
