import assert from 'node:assert/strict';
import type { Event } from '../../src/core/event/event.ts';
import { ownedKey } from '../../src/core/event/keys.ts';
import { defineProjection } from '../../src/core/event/projection.ts';
import { limits } from '../../src/core/limits.ts';
import { all, note, notes, onSession, refuses, said, type VerbCase } from './verb-case.ts';

/** Builds deeply nested and cyclic values, which cannot be written as literals. */
function nested(depth: number): Record<string, unknown> {
  let value: Record<string, unknown> = { end: true };
  for (let level = 0; level < depth; level++) value = { in: value };
  return value;
}

const turnsWith = (turns: number[], { turn }: Event): number[] => [...turns, turn];

/** The cases of `session.append`. */
export const append: readonly VerbCase[] = [
  onSession('append() numbers events from 1 without gaps and chains their digests', async (session) => {
    const events = await session.append(notes('abc'));
    assert.deepEqual(
      events.map((event) => event.seq),
      [1, 2, 3],
    );
    assert.equal(new Set(events.map((event) => event.digest)).size, 3);
    assert.deepEqual(await all(session.replay()), [...events]);
  }),

  onSession('append() stores a batch whole or not at all', async (session) => {
    await refuses('event.invalid', () => session.append([note('a'), { type: 'Not A Type' }]));
    await refuses('json.not-json', () =>
      session.append([note('a'), { type: 'x.made', data: { bad: Number.NaN } as never }]),
    );
    assert.equal(await said(session.replay()), '');
  }),

  onSession('I10 append() gives back exactly the JSON it was given', async (session) => {
    const data = JSON.parse(
      '{"10":1,"9":2,"__proto__":{"x":1},"a":[],"b":{},"n":null,"s":"é\\u0000😀\\n","f":1.5e-7,"big":9007199254740991,"$part":"no","$$x":{"$list":[1]},"deep":[[{"k":[null]}]]}',
    );
    await session.append({ type: 'custom.thing', data });
    const [event] = await all(session.replay());
    assert.deepEqual(event?.data, data);
    assert.equal(JSON.stringify(event?.data, Object.keys(data).sort()), JSON.stringify(data, Object.keys(data).sort()));
    assert.ok(Object.hasOwn(event?.data ?? {}, '__proto__'));
  }),

  onSession(
    'I10 append() returns what a read returns, whatever the caller does with the data later',
    async (session) => {
      const output = {
        kept: 1,
        left: undefined as number | undefined,
        zero: -0,
        list: [{ left: undefined, kept: null }],
      };
      const messages = [{ role: 'user', content: 'hello', name: undefined }];
      const drafts = [
        { type: 'custom.thing', agent: 'a', time: '2026-01-01T00:00Z', data: { output, $part: { left: undefined } } },
        { type: 'call.started', data: { call: 'c', kind: 'model', name: 'm', request: { messages } } },
        { type: 'custom.empty' },
      ];
      const appending = session.append(drafts as never);
      output.kept = 2;
      const events = await appending;
      output.kept = 3;
      messages.push({ role: 'user', content: 'more', name: undefined });
      assert.deepEqual(events, await all(session.replay()));
      assert.deepEqual(events[0]?.data, { output: { kept: 1, zero: 0, list: [{ kept: null }] }, $part: {} });
      const edited = await session.edit({
        kind: 'replace',
        seq: 1,
        event: { data: { output, x: undefined } as never },
      });
      assert.deepEqual(edited.marker, (await all(session.replay({ history: 'raw' }))).at(-1));
      const branch = await session.fork('main', { name: 'x', metadata: { a: { b: undefined } } as never });
      assert.deepEqual(await session.branch(branch.name).metadata(), { a: {} });
    },
  ),

  onSession('append() refuses what JSON cannot carry, and says where', async (session) => {
    const cyclic: Record<string, unknown> = { list: [] };
    (cyclic['list'] as unknown[]).push(cyclic);
    const bad: readonly [unknown, Parameters<typeof refuses>[0]][] = [
      [{ a: { b: Number.NaN } }, 'json.not-json'],
      [{ a: Number.POSITIVE_INFINITY }, 'json.not-json'],
      [{ a: 2 ** 53 }, 'json.unsafe-number'],
      [{ a: 1n }, 'json.not-json'],
      [{ a: new Date(0) }, 'json.not-json'],
      [{ a: new Map() }, 'json.not-json'],
      [{ a: () => 1 }, 'json.not-json'],
      [{ a: [undefined] }, 'json.not-json'],
      [{ a: '\ud800' }, 'json.lone-surrogate'],
      [{ '\udfff': 1 }, 'json.lone-surrogate'],
      [cyclic, 'json.cyclic'],
      [nested(limits.jsonDepthMax + 10), 'json.too-deep'],
      ['text', 'json.not-json'],
      [[1], 'json.not-json'],
    ];
    for (const [data, code] of bad)
      await refuses(code, () => session.append({ type: 'custom.thing', data: data as never }));
    const error = await refuses('json.not-json', () =>
      session.append({ type: 'custom.thing', data: { a: [{ b: Number.NaN }] } }),
    );
    assert.equal(error.details['path'], 'a[0].b');
    assert.equal(await said(session.replay()), '');
  }),

  onSession('append() leaves out undefined properties, as JSON does', async (session) => {
    await session.append({ type: 'custom.thing', data: { a: 1, b: undefined } as never });
    const [event] = await all(session.replay());
    assert.deepEqual(Object.keys(event?.data ?? {}), ['a']);
  }),

  onSession('append() refuses an empty batch, reserved types, and fields of the wrong form', async (session) => {
    await refuses('append.empty', () => session.append([]));
    await refuses('event.reserved', () => session.append({ type: 'branch.rewound', data: { to: 0 } }));
    await refuses('event.invalid', () => session.append({ type: 'call.started', data: { kind: 'tool' } }));
    await refuses('event.invalid', () =>
      session.append({ type: 'call.started', data: { call: 'c', kind: 'tool', name: 7 } }),
    );
    await refuses('event.invalid', () => session.append(note('a', { turn: -1 })));
    await refuses('event.invalid', () => session.append(note('a', { version: 0 })));
    await refuses('time.invalid', () => session.append(note('a', { time: 'noon' })));
    await refuses('time.invalid', () => session.append(note('a', { time: '2026-02-30T10:00:00.000Z' })));
    await refuses('event.not-found', () => session.append(note('a', { cause: 'nobody' })));
    await refuses('branch.not-found', () => session.branch('nowhere').append(note('a')));
  }),

  onSession('append() refuses a key that no event has, and names the one that was meant', async (session) => {
    const bad: readonly [object, string, string | undefined][] = [
      [{ agnet: 'a' }, 'agnet', 'agent'],
      [{ caus: 'x' }, 'caus', 'cause'],
      [{ branch: 'main' }, 'branch', undefined],
      [{ seq: 1 }, 'seq', undefined],
      [{ whatever: 1 }, 'whatever', undefined],
    ];
    for (const [more, key, meant] of bad) {
      const error = await refuses('event.invalid', () => session.append([note('a'), { ...note('b'), ...more }]));
      assert.deepEqual([error.details['key'], error.details['nearest']], [key, meant]);
      if (meant !== undefined) assert.ok(error.hint?.includes(`Did you mean "${meant}"?`));
    }
    assert.equal(await said(session.replay()), '');
    await session.append({ ...note('a'), agnet: undefined } as never);
    assert.equal(await said(session.replay()), 'a');
  }),

  onSession(
    'append() refuses an option that there is not: it would be an append under no condition',
    async (session) => {
      await session.append(notes('ab'));
      const bad: readonly [unknown, string | undefined][] = [
        [{ heads: 1 }, 'heads'],
        [{ Branch: 'x' }, 'Branch'],
        [{ unchanged: { since: 0, key: ['k'] } }, 'key'],
        ['careful', undefined],
        [null, undefined],
      ];
      for (const [options, key] of bad) {
        const error = await refuses('option.invalid', () => session.append(note('c'), options as never));
        assert.equal(error.details['key'], key);
      }
      const error = await refuses('option.invalid', () => session.append(note('c'), { heads: 1 } as never));
      assert.equal(error.details['nearest'], 'head');
      const branch = await session.fork('main', { name: 'careful' });
      await refuses('option.invalid', () => branch.append(note('c'), { branch: 'main' } as never));
      assert.equal(await said(session.replay()), 'ab');
      assert.equal(await said(branch.replay()), 'ab');
    },
  ),

  onSession('append() refuses a state operation that is not of the form, and says which field', async (session) => {
    const good = { agent: 'default', key: 'k', op: 'write', value: null, version: 1 };
    const { value: _, ...bare } = good;
    const bad: readonly [unknown, string][] = [
      ['write', 'operations.1'],
      [null, 'operations.1'],
      [[good], 'operations.1'],
      [{ ...good, agent: undefined }, 'operations.1.agent'],
      [{ ...good, agent: 7 }, 'operations.1.agent'],
      [{ ...good, agent: '' }, 'operations.1.agent'],
      [{ ...good, agent: 'a\u0001b' }, 'operations.1.agent'],
      [{ ...good, key: 7 }, 'operations.1.key'],
      [{ ...good, key: 'k'.repeat(901) }, 'operations.1.key'],
      [{ ...good, op: 'put' }, 'operations.1.op'],
      [bare, 'operations.1.value'],
      [{ ...good, op: 'delete' }, 'operations.1.value'],
      [{ ...bare, op: 'delete', version: 0 }, 'operations.1.version'],
      [{ ...good, version: 1.5 }, 'operations.1.version'],
      [{ ...good, version: '1' }, 'operations.1.version'],
    ];
    for (const [operation, field] of bad) {
      const event = { type: 'state.committed', data: { operations: [good, operation] } as never };
      const error = await refuses('event.invalid', () => session.append([note('a'), event]));
      assert.equal(error.details['field'], field, error.message);
      await refuses('event.invalid', () =>
        session.fork('main', { name: 'x', edits: [{ kind: 'insert', after: 0, event }] }),
      );
    }
    assert.equal(await said(session.replay()), '');
    const operations = [good, { ...bare, op: 'delete', key: '', version: 2 }];
    await session.append({ type: 'state.committed', data: { operations } });
    await session.append({ type: 'state.committed', data: { operations: [] } });
  }),

  onSession('I7 append() of a newer state version puts nothing under another agent’s keys', async (session) => {
    const forged = { agent: 'a\u0001b', key: 'c', op: 'write', value: 1, version: 1 };
    await session.append({ type: 'state.committed', version: 2, data: { operations: [forged] } });
    await session.append(note('kept'), { unchanged: { since: 0, prefixes: [ownedKey('state', 'a', '')] } });
  }),

  onSession(
    'append() refuses ids with control characters or over 200 bytes, and takes every other',
    async (session) => {
      for (const id of ['', '\0', 'a\nb', 'é'.repeat(101), 'x'.repeat(10_000), '\ud800'])
        await refuses('id.invalid', () => session.append(note('a', { agent: id })));
      const hostile = ['a/b@c:d%e', '../../etc/passwd', '😀'.repeat(50), "'; DROP TABLE events; --", '%_*', 'ß'];
      for (const agent of hostile) await session.append(note('x', { agent, run: agent, id: agent }));
      assert.deepEqual(
        (await all(session.replay())).map((event) => event.agent),
        hostile,
      );
    },
  ),

  onSession('append() takes a payload of 12 MB and refuses one over the limit', async (session) => {
    const text = 'x'.repeat(12_000_000);
    await session.append(note(text));
    const [event] = await all(session.replay());
    assert.equal(event?.data['text'], text);
    await refuses('limit.exceeded', () => session.append(note('y'.repeat(limits.payloadBytesMax))));
  }),

  onSession('append() under `head` conflicts when the branch moved on', async (session) => {
    await session.append(notes('ab'), { head: 0 });
    const error = await refuses('append.conflict', () => session.append(note('c'), { head: 1 }));
    assert.deepEqual([error.details['expected'], error.details['actual']], [1, 2]);
    await session.append(note('c'), { head: 2 });
    assert.equal(await said(session.replay()), 'abc');
  }),

  onSession('append() with a known id and the same content is answered with what is stored', async (session) => {
    const [first] = await session.append(note('a', { id: 'fixed', time: '2026-01-01T00:00:00.000Z' }));
    await session.append(note('b'));
    const [again] = await session.append(note('a', { id: 'fixed' }), { head: 99 });
    assert.deepEqual(again, first);
    await refuses('event.id-reused', () => session.append(note('other', { id: 'fixed' })));
    await refuses('append.partly-known', () => session.append([note('a', { id: 'fixed' }), note('new')]));
    assert.equal(await said(session.replay()), 'ab');
  }),

  onSession('append() of a known batch is refused when its events stand on several branches', async (session) => {
    await session.append(note('a', { id: 'one' }));
    const branch = await session.fork('main', { name: 'x' });
    await branch.append(note('b', { id: 'two' }));
    await refuses('append.partly-known', () => session.append([note('a', { id: 'one' }), note('b', { id: 'two' })]));
  }),

  onSession(
    'append() under `unchanged` refuses a seq beyond the head, and conflicts after an erasure',
    async (session) => {
      await session.append([note('a long enough note'), note('b')]);
      await refuses('point.out-of-range', () => session.append(note('c'), { unchanged: { since: 3 } }));
      await session.erase('main@1');
      await refuses('state.conflict', () => session.append(note('c'), { unchanged: { since: 2 } }));
      await session.append(note('c'), { unchanged: { since: 3 } });
    },
  ),

  onSession('append() of a list that was holed meanwhile stores what was sent', async (session, reprise) => {
    const message = { role: 'user', content: 'a secret that is long enough to be found' };
    const called = (messages: readonly unknown[]) =>
      ({ type: 'call.started', data: { call: 'c', kind: 'model', name: 'm', request: { messages } } }) as never;
    await session.append([called([message]), note(message.content)]);
    await (await reprise.namespace('default').session(session.id)).erase('main@2');
    await session.append(called([message, message]));
    const events = await all(session.replay());
    assert.deepEqual(
      events.flatMap((event) => (event.data['request'] as { messages?: unknown } | undefined)?.messages ?? []),
      [{ erased: true }, message, message],
    );
    assert.equal((await session.verify()).ok, true);
  }),

  onSession('append() gives an event the turn of its cause, else of the last event in the view', async (session) => {
    const [first] = await session.append(note('a', { turn: 4 }));
    const [second] = await session.append(note('b'));
    const [late] = await session.append(note('c', { turn: 9 }));
    const [caused] = await session.append(note('d', { cause: first?.id ?? '' }));
    assert.deepEqual([second?.turn, late?.turn, caused?.turn], [4, 9, 4]);
    assert.equal(caused?.causeSeq, 1);
    await session.rewind(2);
    const [after] = await session.append(note('e'));
    assert.equal(after?.turn, 4);
  }),

  onSession(
    'append() gives an event the turn that the view shows of its cause, also if that was edited',
    async (session) => {
      await session.append([note('a', { turn: 2 }), note('b', { turn: 9 })]);
      await session.edit({ kind: 'replace', seq: 1, event: { data: { text: 'A' } } });
      const [cause] = await all(session.replay());
      const draft = note('c', { cause: cause?.id ?? '' });
      const turns = defineProjection<number[]>({ name: 'turns', history: 'view', initial: () => [], apply: turnsWith });
      const looked = await session.fold(turns, { edits: [{ kind: 'append', event: draft }] });
      const [caused] = await session.append(draft);
      assert.deepEqual([cause?.turn, caused?.turn, looked], [2, 2, [2, 9, 2]]);
    },
  ),

  onSession('append() of an older epoch fails after a rewind', async (session) => {
    await session.append(notes('ab'), { epoch: 0 });
    const { marker } = await session.rewind(1);
    await refuses('branch.rewound', () => session.append(note('c'), { epoch: 0 }));
    await session.append(note('d'), { epoch: marker.seq });
    assert.equal(await said(session.replay()), 'ad');
  }),

  onSession('append() keeps the time it is given, also when it goes back', async (session) => {
    await session.append([
      note('a', { time: '2026-01-02T00:00:00Z' }),
      note('b', { time: '2026-01-01T00:00:00.5+01:00' }),
    ]);
    assert.deepEqual(
      (await all(session.replay())).map((event) => event.time),
      ['2026-01-02T00:00:00.000Z', '2025-12-31T23:00:00.500Z'],
    );
  }),
];
