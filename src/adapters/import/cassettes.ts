import type { gunzipSync } from 'node:zlib';
import { arrayAt, isObject, type JsonObject, type JsonValue, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { firstTime, holds } from './pieces/first-lines.ts';
import { exchangeEvents, type HttpExchange } from './pieces/http-exchange.ts';

/** Reads YAML text; it is there once a cassette is opened. */
let readYaml: ((text: string) => unknown) | undefined;

/** The cassettes of go-vcr and VCR.py: recorded exchanges as YAML. */
export const vcr: ForeignFormat = defineFormat({
  name: 'vcr',
  about: 'cassettes of go-vcr and VCR.py',
  detect: ({ text }) => /^interactions\s*:[^\S\n]*\n\s*- /m.test(text) && /^\s*(?:- )?request\s*:/m.test(text),
  cut: () => ({ kind: 'whole' }),
  load: async () => {
    const { parse } = await import('yaml');
    // A cassette is data: an alias that repeats itself without end is refused.
    readYaml = (text) => parse(text, { maxAliasCount: 100 }) as unknown;
  },
  open: () => ({
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
  detect: ({ text }) =>
    /^\s*\{\s*"log"\s*:/.test(text) &&
    /"entries"\s*:/.test(text) &&
    holds(text, (value) => arrayAt(objectAt(value, 'log'), 'entries') !== undefined),
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

/** Returns a body: go-vcr has it as text, VCR.py inside an object, as text or as bytes as they came. */
function bodyText(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return unpacked(body);
  const { string, base64_string: base64 } = (body ?? {}) as {
    readonly string?: unknown;
    readonly base64_string?: unknown;
  };
  if (typeof base64 === 'string') return unpacked(Buffer.from(base64, 'base64'));
  return string === undefined ? '' : bodyText(string);
}

/** Returns the text of bytes that a server may have packed. Nothing says how but the bytes themselves. */
function unpacked(bytes: Uint8Array): string {
  // A brotli stream has no mark: some plain text reads as an empty one.
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Packed bytes are not UTF-8.
  }
  const limit = { maxOutputLength: limits.importUnitBytesMax };
  for (const unpack of unpackers()) {
    try {
      return unpack(bytes, limit).toString();
    } catch {
      // It is packed in a different way, or not at all.
    }
  }
  return Buffer.from(bytes).toString();
}

/** Returns how bytes can be unpacked. A page of the studio reads cassettes too, and has none of them. */
function unpackers(): readonly (typeof gunzipSync)[] {
  const zlib = typeof process === 'undefined' ? undefined : process.getBuiltinModule('node:zlib');
  return zlib === undefined ? [] : [zlib.gunzipSync, zlib.inflateSync, zlib.brotliDecompressSync];
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
