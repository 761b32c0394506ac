import { RepriseError } from '../../core/error.ts';
import type { BodyBudget } from './body-budget.ts';
import type { HttpRequest, HttpResponse } from './listener.ts';
import { refused } from './request-problem.ts';
import { unpacked } from './unpacking.ts';

/** The most bytes that a body may have, and how to refuse more. */
interface BodyLimits {
  readonly budget: BodyBudget;
  readonly bytesMax: number;
  readonly tooLong: () => RepriseError;
}

/** Reads the whole body of a request, and unpacks it. Its bytes count for the budget until the answer has ended. */
export async function sentBody(
  request: HttpRequest,
  response: HttpResponse,
  { budget, bytesMax, tooLong }: BodyLimits,
): Promise<Uint8Array> {
  const bytes = budget.open((error) => error);
  response.once('close', bytes.release);
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
    request.resume();
    throw tooLong();
  }
  const body = await bytesOf(request, (sum, chunk) => {
    bytes.take(chunk);
    if (sum > bytesMax) throw tooLong();
  });
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return body;
  if (encoding !== 'gzip') throw refused('', 'has a compression that is not gzip');
  try {
    return await unpacked(body, bytesMax, bytes);
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    throw error instanceof RangeError ? tooLong() : refused('', 'is not gzip');
  }
}

/** Reads a body to its end. After a refusal it discards the rest, so that the answer still gets through. */
function bytesOf(request: HttpRequest, check: (sum: number, chunk: number) => void): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sum = 0;
    const onData = (chunk: Buffer): void => {
      try {
        sum += chunk.length;
        check(sum, chunk.length);
        chunks.push(chunk);
      } catch (error) {
        request.off('data', onData).resume();
        reject(error as Error);
      }
    };
    request.on('data', onData);
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => reject(new Error('The client left (ECONNRESET)')));
  });
}

/** Returns a body as text; refuses bytes that are not UTF-8. */
export function utf8Text(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw refused('', 'is not UTF-8');
  }
}
