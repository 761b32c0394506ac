import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pathOf, send } from '../answering/requests.ts';
import type { HttpRequest, HttpResponse } from '../http/listener.ts';

/** A file of the studio, as it is sent. */
interface SentFile {
  readonly type: string;
  readonly body: Buffer;
  /** Undefined if it would not be smaller. */
  readonly gzip: Buffer | undefined;
  readonly tag: string;
}

/** The files of the studio, by their paths. */
export interface StudioFiles {
  readonly files: ReadonlyMap<string, SentFile>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The headers of every page: nothing but our own files runs, no other site sees or frames it. */
const headers: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Reads the files of the studio into memory; they are few, and none is read on request. */
export function readStudioFiles(folder: string): StudioFiles | undefined {
  const files = new Map<string, SentFile>();
  let entries: ReturnType<typeof filesIn>;
  try {
    entries = filesIn(folder);
  } catch {
    return undefined;
  }
  for (const path of entries) {
    const body = readFileSync(path);
    const type = types[extname(path)];
    if (type === undefined) continue;
    const zipped = gzipSync(body);
    files.set(`/${relative(folder, path).split(sep).join('/')}`, {
      type,
      body,
      gzip: zipped.length < body.length * 0.9 ? zipped : undefined,
      tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
    });
  }
  return files.has('/index.html') ? { files } : undefined;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The addresses of the app itself; each is the same page. */
const screens = /^\/(?:$|s\/|runs\/?$|store\/?$)/;

/** Answers a request for a file or a screen of the studio; false if the path is neither. */
export function sendStudio(files: StudioFiles | undefined, request: HttpRequest, response: HttpResponse): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  const path = pathOf(request);
  const isScreen = screens.test(path);
  if (files === undefined) {
    if (!isScreen) return false;
    send(response, 404, { ...headers, 'content-type': 'text/plain; charset=utf-8' }, notBuilt);
    return true;
  }
  const file = files.files.get(isScreen ? '/index.html' : path);
  if (file === undefined) return false;
  sendFile(file, request, response, path.startsWith('/assets/'));
  return true;
}

const notBuilt = 'The studio is not built here. Run "npm run build" in the repository of Reprise, and start again.\n';

function sendFile(file: SentFile, request: HttpRequest, response: HttpResponse, isHashed: boolean): void {
  // The names of assets have a hash of their content; pages are asked about each time.
  const cache = isHashed ? 'public, max-age=31536000, immutable' : 'no-cache';
  const about = { ...headers, 'cache-control': cache, etag: file.tag, vary: 'accept-encoding' };
  if (request.headers['if-none-match'] === file.tag) {
    send(response, 304, about);
    return;
  }
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const body = takesGzip && file.gzip !== undefined ? file.gzip : file.body;
  const encoded = body === file.gzip ? { 'content-encoding': 'gzip' } : {};
  const sent = { ...about, ...encoded, 'content-type': file.type, 'content-length': String(body.length) };
  send(response, 200, sent, request.method === 'HEAD' ? '' : body);
}
