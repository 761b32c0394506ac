import { arrayAt, isObject, type JsonObject, type JsonValue, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { firstTime } from './first-lines.ts';
import { exchangeEvents, type HttpExchange } from './http-exchange.ts';

/** Reads YAML text; it is there once a cassette is opened. */
let readYaml: ((text: string) => unknown) | undefined;

/** The cassettes of go-vcr and VCR.py: recorded exchanges as YAML. */
export const vcr: ForeignFormat = defineFormat({
  name: 'vcr',
  about: 'cassettes of go-vcr and VCR.py',
  detect: ({ text }) => /^interactions\s*:/m.test(text) && /^\s*(?:- )?request\s*:/m.test(text),
  cut: () => ({ kind: 'whole' }),
  load: async () => {
    const { parse } = await import('yaml');
    // A cassette is data: an alias that repeats itself without end is refused.
    readYaml = (text) => parse(text, { maxAliasCount: 100 }) as unknown;
  },
  open: ({ path }) => ({
    session: path
      ?.split(/[/\\]/)
      .at(-1)
      ?.replace(/\.ya?ml$/, ''),
    unit: ({ text }): UnitMeaning | undefined => {
      const cassette = text === undefined ? undefined : (readYaml?.(text) as JsonValue | undefined);
      const exchanges = (arrayAt(cassette, 'interactions') ?? []).filter(isObject).map(interaction);
      return exchanges.length === 0
        ? undefined
        : {
            type: 'cassette',
            drafts: exchanges.flatMap((exchange, index) => exchangeEvents(exchange, `exchange-${index + 1}`)),
          };
    },
  }),
});

/** The archives of browsers and proxies: exchanges as JSON. */
export const har: ForeignFormat = defineFormat({
  name: 'har',
  about: 'HTTP archives (HAR)',
  detect: ({ text }) => /^\s*\{\s*"log"\s*:/.test(text) && /"entries"\s*:/.test(text),
  cut: () => ({ kind: 'whole' }),
  open: ({ text }) => ({
    startedAt: firstTime(text, 'startedDateTime'),
    unit: ({ value }): UnitMeaning | undefined => {
      const entries = (arrayAt(objectAt(value, 'log'), 'entries') ?? []).filter(isObject);
      return entries.length === 0
        ? undefined
        : {
            type: 'archive',
            drafts: entries.flatMap((entry, index) => exchangeEvents(archived(entry), `exchange-${index + 1}`)),
          };
    },
  }),
});

function interaction(held: JsonObject): HttpExchange {
  const [request, response] = [objectAt(held, 'request'), objectAt(held, 'response')];
  return {
    method: stringAt(request, 'method') ?? 'GET',
    url: stringAt(request, 'url') ?? stringAt(request, 'uri') ?? '',
    requestBody: bodyText(request?.['body']),
    status: numberAt(response, 'code') ?? numberAt(objectAt(response, 'status'), 'code') ?? 200,
    responseBody: bodyText(response?.['body']),
  };
}

/** Returns a body: go-vcr has it as text, VCR.py inside an object. */
function bodyText(body: JsonValue | undefined): string {
  if (typeof body === 'string') return body;
  return stringAt(body, 'string') ?? '';
}

function archived(entry: JsonObject): HttpExchange {
  const [request, response] = [objectAt(entry, 'request'), objectAt(entry, 'response')];
  const content = objectAt(response, 'content');
  const text = stringAt(content, 'text') ?? '';
  const isEncoded = stringAt(content, 'encoding') === 'base64';
  return {
    method: stringAt(request, 'method') ?? 'GET',
    url: stringAt(request, 'url') ?? '',
    requestBody: stringAt(objectAt(request, 'postData'), 'text') ?? '',
    status: numberAt(response, 'status') ?? 0,
    responseBody: isEncoded ? Buffer.from(text, 'base64').toString() : text,
    start: stringAt(entry, 'startedDateTime'),
    latencyMs: numberAt(entry, 'time'),
  };
}
