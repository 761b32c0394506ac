import { RepriseError } from '../../core/error.ts';
import { parseFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import type { FollowOptions } from '../../core/session/session-log.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { openRef } from '../../reading/open-ref.ts';
import { beatMs } from '../../wire/protocol.ts';
import { leaving, sendLines } from '../http/answer-lines.ts';
import { batched } from '../http/batches.ts';
import type { HttpRequest, HttpResponse } from '../http/listener.ts';
import { endOf, eventTexts, replayed } from './answer-texts.ts';

/** The path under which a history can be read as lines of JSON. */
export const replayPath = '/v1/replay/';

/** Reads a history as lines of JSON: `GET /v1/replay/REF?follow=true&filter=type=^call`. An empty line is a beat. */
export async function sendReplay(
  reprise: (namespace: string) => Reprise,
  request: HttpRequest,
  response: HttpResponse,
  draining: AbortSignal,
): Promise<void> {
  const url = new URL(request.url ?? '', 'http://host');
  const { namespace, leaveOut, ...options } = optionsOf(url.searchParams);
  const text = refIn(url.pathname.slice(replayPath.length));
  const left = leaving(response);
  const { session, ref } = await openRef(reprise(namespace), text);
  const signal = endOf(left, draining, options);
  const pages = eventTexts(replayed(session, ref, { ...options, signal }), leaveOut);
  await sendLines(response, batched(pages, beatMs, Number.POSITIVE_INFINITY), left);
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

interface ReplayQuery extends Omit<FollowOptions, 'signal'> {
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
