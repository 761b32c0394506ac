import { createRouterTransport } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { StudioService } from '../../../src/wire/generated/reprise/v1/studio_pb.ts';
import { serverSource } from './server-source.ts';

test('a page draws and takes keys between the chunks of an index that come together', async () => {
  const chunks = [1n, 2n, 3n].map((first) => ({ part: { case: 'chunk' as const, value: { first, flags: [0] } } }));
  const transport = createRouterTransport(({ service }) =>
    service(StudioService, {
      async *readIndex() {
        yield* chunks;
      },
    }),
  );
  const source = serverSource(transport, { follow: () => undefined, onNews: () => () => undefined });
  const happened: string[] = [];
  const takeKey = (): void => void happened.push('key');
  await source.index(
    { namespace: 'default', session: 'long', branch: 'main' },
    0,
    0,
    (part) => {
      happened.push(part.kind);
      setImmediate(takeKey);
    },
    new AbortController().signal,
  );
  expect(happened.slice(0, 4)).toEqual(['rows', 'key', 'rows', 'key']);
});
