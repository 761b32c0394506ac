import { describe, expect, test } from 'vitest';
import { foreignFormats } from '../../src/adapters/import/foreign-formats.ts';
import { openReprise } from '../../src/index.ts';
import { formatContract } from '../../src/testing.ts';
import { sources } from './sources.ts';

const open = () => openReprise({ store: 'memory:', config: false });

test('every format has sources that prove it', () => {
  expect(Object.keys(sources).sort()).toEqual(foreignFormats.map(({ name }) => name).sort());
});

describe.each(foreignFormats.map((format) => [format.name, format] as const))('%s', (name, format) => {
  test.each(formatContract(format, sources[name] ?? []).map((each) => [each.name, each] as const))(
    '%s',
    async (_, each) => {
      await each.run(open);
    },
  );

  test('is the first format that detects its sources', () => {
    for (const { text } of sources[name] ?? [])
      expect(foreignFormats.find((each) => each.detect({ path: undefined, text }))?.name).toBe(name);
  });
});
