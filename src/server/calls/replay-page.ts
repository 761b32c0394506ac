import { RepriseError } from '../../core/error.ts';
import { parseFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import type { ReplayOptions } from '../../core/session/session-log.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { openRef } from '../../reading/open-ref.ts';
import { beatMs } from '../../wire/protocol.ts';
import { batched } from '../http/batches.ts';
import type { HttpRequest, HttpResponse } from '../http/listener.ts';
import { queuedBytes } from '../http/stalled-clients.ts';
import { endOf, eventTexts } from './session-service.ts';

/** The path under which a history can be read as lines of JSON. */
export const replayPath = '/v1/replay/';

/** Bytes that may wait for a client before nothing more is read for it: enough that it seldom waits for the server. */
const queuedBytesMax = 1_048_576;

/** Reads a history as lines of JSON: `GET /v1/replay/REF?follow=true&filter=type=^call`. An empty line is a beat. */
export async function sendReplay(
  reprise: (namespace: string) => Reprise,
  request: HttpRequest,
  response: HttpResponse,
  draining: AbortSignal,
): Promise<void> {
  const url = new URL(request.url ?? '', 'http://host');
  const { namespace, leaveOut, ...options } = optionsOf(url.searchParams);
  const ref = refIn(url.pathname.slice(replayPath.length));
  const left = new AbortController();
  response.once('close', () => left.abort());
  const { session, point } = await openRef(reprise(namespace), ref);
  const signal = endOf(left.signal, draining, options);
  const pages = eventTexts(session.at(point).replay({ ...options, signal }), leaveOut);
  const lines = batched(pages, beatMs, Number.POSITIVE_INFINITY);
  // The first events come before the headers, so that a mistake in the request still gets its status.
  let next = await lines.next();
  response.setHeader('content-type', 'application/x-ndjson');
  for (; next.done !== true; next = await lines.next()) {
    // Bytes go out as they are; a text would be measured and turned into bytes piece by piece.
    write(response, Buffer.from(next.value.length === 0 ? '\n' : `${next.value.join('\n')}\n`));
    if (queuedBytes(response) > queuedBytesMax && !left.signal.aborted) await drained(response);
    if (left.signal.aborted) break;
  }
  await lines.return();
  response.end();
}

function refIn(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new RepriseError('option.invalid', 'Cannot replay: the path has escapes that are not UTF-8', {
      hint: 'Write each byte of a ref as %XX, in UTF-8.',
      details: { path: 'ref' },
    });
  }
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

interface ReplayQuery extends Omit<ReplayOptions, 'at' | 'signal'> {
  readonly namespace: string;
  readonly leaveOut: readonly string[];
}

const names = new Set([
  'namespace',
  'history',
  'after',
  'through',
  'since',
  'until',
  'filter',
  'direction',
  'limit',
  'follow',
  'leaveOut',
]);

function optionsOf(query: URLSearchParams): ReplayQuery {
  for (const name of query.keys()) if (!names.has(name)) throw refused(name, 'is not a parameter of a replay');
  const filter = query.get('filter');
  return {
    namespace: query.get('namespace') ?? '',
    leaveOut: query.get('leaveOut')?.split(',') ?? [],
    ...given({
      history: oneOf(query, 'history', ['view', 'raw']),
      direction: oneOf(query, 'direction', ['forward', 'backward']),
      after: wholeIn(query, 'after'),
      through: wholeIn(query, 'through'),
      limit: wholeIn(query, 'limit'),
      since: query.get('since') ?? undefined,
      until: query.get('until') ?? undefined,
      filter: filter === null ? undefined : parseFilter(filter),
      follow: oneOf(query, 'follow', ['true', 'false']) === 'true' ? true : undefined,
    }),
  };
}

function oneOf<Word extends string>(query: URLSearchParams, name: string, words: readonly Word[]): Word | undefined {
  const text = query.get(name);
  const found = words.find((word) => word === text);
  if (text !== null && found === undefined) throw refused(name, `must be one of ${words.join(', ')}`);
  return found;
}

function wholeIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw refused(name, 'must be a whole number');
  return Number(text);
}

function refused(name: string, why: string): RepriseError {
  return new RepriseError('option.invalid', `Cannot replay: ${JSON.stringify(name.slice(0, 100))} ${why}`, {
    hint: `The parameters are ${[...names].join(', ')}.`,
    details: { path: name.slice(0, 100) },
  });
}
