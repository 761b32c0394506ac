import { hash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import type { Digest } from '../point.ts';
import { DataDecoder } from './decode.ts';
import { createPartMemory, encodeData, type PartMemory, recallParts } from './encode.ts';
import { applyDeltas, bodyDelta, type PartInput } from './parts.ts';

const maker = {
  sha256: (text: string) => hash('sha256', text, 'hex') as Digest,
  newSalt: () => randomBytes(16).toString('base64url'),
};

/** Encodes events one after the other and keeps the parts that a store would hold. */
class Writer {
  readonly parts = new Map<Digest, PartInput>();
  readonly #memory: PartMemory = createPartMemory();
  bytes = 0;

  write(type: string, data: JsonObject, run = 'r'): string {
    const { skeleton, parts } = encodeData({ type, version: 1, run, data }, maker, this.#memory);
    this.bytes += skeleton.length;
    for (const part of parts) {
      if (!this.parts.has(part.digest)) this.bytes += part.text.length + 64;
      this.parts.set(part.digest, part);
    }
    return skeleton;
  }

  read(skeleton: string): JsonObject {
    return new DataDecoder({ get: (digest) => this.parts.get(digest), isErased: () => false }).decode(skeleton);
  }
}

const modelCall = (messages: readonly JsonValue[], body?: string): JsonObject => ({
  call: 'c',
  kind: 'model',
  name: 'm',
  request: { messages, ...(body === undefined ? {} : { body }) },
});
const message = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  content: fc.oneof(fc.string(), fc.string({ minLength: limits.partBytesMin, maxLength: 2000 })),
  $part: fc.option(fc.string(), { nil: null }),
});

describe('encodeData() and DataDecoder', () => {
  it('I10 give back exactly what was stored, through lists, parts, bodies and keys that look like references', () => {
    const calls = fc.array(
      fc.tuple(
        fc.array(message, { maxLength: 8 }),
        fc.option(fc.string({ unit: 'grapheme', maxLength: 3000 }), { nil: undefined }),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(calls, (all) => {
        const writer = new Writer();
        const stored = all.map(
          ([messages, body]) =>
            [
              modelCall(messages as unknown as JsonValue[], body),
              writer.write('call.started', modelCall(messages as unknown as JsonValue[], body)),
            ] as const,
        );
        for (const [data, skeleton] of stored) expect(writer.read(skeleton)).toEqual(data);
      }),
    );
  });

  it('I10 give back any data of a type nobody knows', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('$part', '$$part', '$list', 'a', '$erased', '__proto__'), fc.jsonValue()),
        (data) => {
          const writer = new Writer();
          let skeleton = '';
          try {
            skeleton = writer.write('custom.thing', data as JsonObject);
          } catch {
            return; // integers beyond 2^53 are refused elsewhere
          }
          expect(JSON.stringify(writer.read(skeleton))).toBe(
            JSON.stringify(JSON.parse(JSON.stringify(sortKeys(data)))),
          );
        },
      ),
    );
  });

  it('store a conversation that grows in twice the bytes for twice the turns', () => {
    const bytesAfter = (turns: number, withBody: boolean): number => {
      const writer = new Writer();
      const messages: JsonValue[] = [];
      for (let turn = 0; turn < turns; turn++) {
        messages.push(
          { role: 'user', content: `question ${turn} `.repeat(20) },
          { role: 'assistant', content: `answer ${turn} `.repeat(20) },
        );
        writer.write(
          'call.started',
          modelCall([...messages], withBody ? JSON.stringify({ model: 'm', messages }) : undefined),
        );
      }
      return writer.bytes;
    };
    expect(bytesAfter(400, false) / bytesAfter(200, false)).toBeLessThan(2.1);
    expect(bytesAfter(400, true) / bytesAfter(200, true)).toBeLessThan(2.2);
  });

  it('share equal values, and never the digest of a list or body', () => {
    const writer = new Writer();
    const long = { role: 'user', content: 'x'.repeat(1000) };
    const one = writer.write('message.added', { message: long });
    const two = writer.write('message.added', { message: long });
    expect(one).toBe(two);
    const lists = [
      writer.write('call.started', modelCall([long]), 'a'),
      writer.write('call.started', modelCall([long]), 'b'),
    ];
    expect(new Set(lists).size).toBe(2);
    expect([...writer.parts.values()].filter((part) => part.kind === 'value')).toHaveLength(1);
  });

  it('go back to the longest earlier list when a conversation is cut and goes on another way', () => {
    const writer = new Writer();
    const item = (text: string): JsonValue => ({ role: 'user', content: text });
    const lists = [['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'x'], ['a', 'x', 'y'], [], ['a', 'b']].map((texts) =>
      texts.map(item),
    );
    const skeletons = lists.map((list) => writer.write('call.started', modelCall(list)));
    for (const [index, skeleton] of skeletons.entries())
      expect(writer.read(skeleton)).toEqual(modelCall(lists[index] as JsonValue[]));
  });
});

describe('bodyDelta()', () => {
  it('gives back the later body and never splits a surrogate pair', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '😀', '😁', 'é') });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const delta = bodyDelta('d' as Digest, before, after);
        expect(delta.middle.isWellFormed()).toBe(true);
        expect(applyDeltas(before, [delta])).toBe(after);
      }),
    );
  });

  it('gives back the last of many bodies from the first and all differences', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '😀') }), { minLength: 1 }), (bodies) => {
        const deltas = bodies.slice(1).map((body, index) => bodyDelta('d' as Digest, bodies[index] as string, body));
        expect(applyDeltas(bodies[0] as string, deltas)).toBe(bodies.at(-1));
      }),
    );
  });
});

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const copy = {};
  for (const [key, item] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    Object.defineProperty(copy, key, { value: sortKeys(item), enumerable: true, configurable: true, writable: true });
  return copy;
}

describe('lists and bodies of what stands in one place', () => {
  const saved = (channel: string, count: number): JsonObject => ({
    namespace: '',
    channel,
    type: 'json',
    items: Array.from({ length: count }, (_, index) => `${channel} ${index} ${'x'.repeat(100)}`),
    body: `${channel} ${'y'.repeat(count * 100)} end`,
  });

  it('go on from each other, not from those of a neighbour', () => {
    const writer = new Writer();
    const bytesOf = (count: number): number => {
      const before = writer.bytes;
      for (const channel of ['a', 'b']) {
        const data = saved(channel, count);
        expect(writer.read(writer.write('channel.saved', data))).toEqual(data);
      }
      return writer.bytes - before;
    };
    bytesOf(200);
    expect(bytesOf(201)).toBeLessThan(2_000);
  });

  it('are gone on from by a process that recalls what another one stored', () => {
    const [first, second] = [createPartMemory(), createPartMemory()];
    const parts = new Map<Digest, PartInput>();
    const encode = (data: JsonObject, memory: PartMemory): string => {
      const encoded = encodeData({ type: 'channel.saved', version: 1, data }, maker, memory);
      for (const part of encoded.parts) parts.set(part.digest, part);
      return encoded.skeleton;
    };
    let skeleton = '';
    for (let count = 40; count <= 50; count++) skeleton = encode(saved('a', count), first);
    recallParts(second, { type: 'channel.saved', data: saved('a', 50) }, skeleton, parts);
    const before = [...parts.values()].reduce((bytes, { text }) => bytes + text.length, 0);
    const next = encode(saved('a', 51), second);
    const decoder = new DataDecoder({ get: (digest) => parts.get(digest), isErased: () => false });
    expect(decoder.decode(next)).toEqual(saved('a', 51));
    expect([...parts.values()].reduce((bytes, { text }) => bytes + text.length, 0) - before).toBeLessThan(600);
    const place = [...second.bodies.values()][0];
    expect(place).toMatchObject({ chain: 11 });
    expect([...second.bodies]).toEqual([[expect.stringContaining('\na\nbody'), place]]);
    expect([...second.lists.values()][0]?.nodes).toHaveLength(12);
  });

  it('a memory that knows something newer is left alone', () => {
    const memory = createPartMemory();
    const parts = new Map<Digest, PartInput>();
    const [older, newer] = [saved('a', 10), saved('a', 20)].map((data) => {
      const encoded = encodeData({ type: 'channel.saved', version: 1, data }, maker, memory);
      for (const part of encoded.parts) parts.set(part.digest, part);
      return encoded.skeleton;
    });
    recallParts(memory, { type: 'channel.saved', data: saved('a', 10) }, older as string, parts);
    expect([...memory.lists.values()][0]?.texts).toHaveLength(20);
    expect(newer).not.toBe(older);
  });
});
