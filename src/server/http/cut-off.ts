import { constants } from 'node:http2';
import type { HttpResponse } from './listener.ts';

/**
 * Ends an answer in the middle. A stream of HTTP/2 ends with an error: a client that still waits for the first message
 * does not notice one that ends without.
 */
export function cutOff(response: HttpResponse): void {
  if ('stream' in response && response.stream !== undefined) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}
