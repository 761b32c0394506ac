import assert from 'node:assert/strict';
import { canonicalJson } from '../../core/canonical-json.ts';
import { limits } from '../../core/limits.ts';
import {
  append,
  type ContractCase,
  contractCase,
  input,
  noDigest,
  note,
  refused,
  rejects,
  request,
  saltedPart,
  valuePart,
  type World,
} from './contract-case.ts';

async function second({ store, ref }: World, namespace = ref.namespace): Promise<World> {
  const other = { namespace, session: 'other' };
  await store.createSession(other, { root: 'main', seed: 'other' });
  return { store, ref: other };
}

/** The guarantees of `parts`. */
export const partsCases: readonly ContractCase[] = [
  contractCase(
    'parts() gives parts of every kind as they were given, and leaves out what is not held',
    async (world) => {
      const value = await valuePart('{"text":"\u{1F600}"}');
      const body = await saltedPart('body', 'raw\nbody');
      const list = await saltedPart('list', `{"items":[{"$part":"${value.digest}"}],"previous":null}`, [value.digest]);
      const sealed = await saltedPart('sealed', '{"a":1}');
      const delta = {
        digest: (await saltedPart('body', 'raw\nbodies')).digest,
        kind: 'delta',
        salt: 'c2FsdHNhbHRzYWx0c2Fs',
        text: canonicalJson({ base: body.digest, middle: 'ies', prefix: 7, suffix: 0 }),
        refs: [body.digest],
      } as const;
      const all = [value, body, list, sealed, delta];
      await append(world, [note('a')], { parts: all });
      const { parts: found } = await world.store.parts(world.ref, [noDigest, ...all.map((part) => part.digest)]);
      assert.equal(found.size, 5);
      for (const part of all) assert.deepEqual(found.get(part.digest), part);
      assert.deepEqual(await world.store.parts(world.ref, []), { parts: new Map(), rest: [] });
    },
  ),

  contractCase(
    'parts() gives what a part refers to as well, however deep, as far as the session holds it',
    async (world) => {
      const [one, two] = [await valuePart('{"n":1}'), await valuePart('{"n":2}')];
      let list = await saltedPart('list', `{"items":[{"$part":"${one.digest}"}],"previous":null}`, [one.digest]);
      const parts = [one, two, list];
      for (let index = 0; index < 50; index++) {
        const text = `{"items":[${index},{"$part":"${two.digest}"}],"previous":"${list.digest}"}`;
        list = await saltedPart('list', text, [list.digest, two.digest]);
        parts.push(list);
      }
      await append(world, [note('a')], { parts });
      const { parts: found, rest } = await world.store.parts(world.ref, [list.digest]);
      assert.deepEqual(rest, []);
      assert.deepEqual([...found.keys()].sort(), parts.map((part) => part.digest).sort());
      assert.deepEqual([...(await world.store.parts(world.ref, [two.digest])).parts.keys()], [two.digest]);
      const marker = input('payload.erased', { parts: [two.digest], seqs: [] });
      const appends = [request(world.ref, [marker])];
      await world.store.erase({ ...world.ref, events: [], parts: [two.digest], rewrites: [], appends });
      assert.equal((await world.store.parts(world.ref, [list.digest])).parts.size, parts.length - 1);
    },
  ),

  contractCase('parts() gives only what is asked for when told to', async (world) => {
    const one = await valuePart('{"n":1}');
    const list = await saltedPart('list', `{"items":[{"$part":"${one.digest}"}],"previous":null}`, [one.digest]);
    await append(world, [note('a')], { parts: [one, list] });
    const asked = await world.store.parts(world.ref, [list.digest, list.digest], { depth: 'asked' });
    assert.deepEqual([[...asked.parts.keys()], asked.rest], [[list.digest], []]);
  }),

  contractCase('parts() answers in pages of bounded size, and asking for the rest comes to an end', async (world) => {
    const size = 1_500_000;
    let previous: string | null = null;
    const parts = [];
    for (let index = 0; index < 6; index++) {
      const value = await valuePart(`"${index}${'é'.repeat(size / 2)}"`);
      const text: string = JSON.stringify({ items: [{ $part: value.digest }], previous });
      const refs = previous === null ? [value.digest] : [previous as typeof value.digest, value.digest];
      const list = await saltedPart('list', text, refs);
      previous = list.digest;
      parts.push(value, list);
    }
    for (const held of [parts.slice(0, 6), parts.slice(6)]) await append(world, [note('a')], { parts: held });
    const found = new Set<string>();
    let pages = 0;
    for (let open = [parts.at(-1)?.digest ?? noDigest]; open.length > 0; pages++) {
      const page = await world.store.parts(world.ref, open);
      assert.ok(page.parts.size > 0);
      const bytes = [...page.parts.values()].reduce((sum, part) => sum + Buffer.byteLength(part.text), 0);
      assert.ok(bytes <= limits.pageBytesMax, String(bytes));
      for (const digest of page.parts.keys()) found.add(digest);
      open = page.rest.filter((digest) => !found.has(digest));
    }
    assert.deepEqual([...found].sort(), parts.map((part) => part.digest).sort());
    assert.ok(pages >= 3);
  }),

  contractCase(
    'parts() shows a session only what it holds itself, also of parts another session stored',
    async (world) => {
      const other = await second(world);
      const part = await valuePart('{"secret":true}');
      await append(world, [note('a')], { parts: [part] });
      assert.equal((await world.store.parts(other.ref, [part.digest])).parts.size, 0);
      await refused(other, 'part.missing', [input('thing.kept', { held: { $part: part.digest } })]);
      await append(other, [note('b')], { parts: [part] });
      assert.equal((await world.store.parts(other.ref, [part.digest])).parts.get(part.digest)?.text, part.text);
    },
  ),

  contractCase('parts() cannot be made to show another session’s part by claiming its digest', async (world) => {
    const other = await second(world);
    const body = await saltedPart('body', 'secret');
    const base = await saltedPart('body', 'base');
    await append(world, [note('a')], { parts: [body] });
    await refused(other, 'part.damaged', [note('b')], { parts: [{ ...body, text: 'guess' }] });
    const claim = {
      ...body,
      kind: 'delta',
      text: `{"base":"${base.digest}","middle":"","prefix":0,"suffix":0}`,
      refs: [base.digest],
    } as const;
    const [outcome] = await world.store.append([
      {
        ...other.ref,
        target: { kind: 'branch', branch: 'main' },
        events: [note('b')],
        parts: [base, claim],
        condition: { kind: 'any' },
      },
    ]);
    const shown = (await world.store.parts(other.ref, [body.digest])).parts.get(body.digest);
    assert.ok(outcome?.ok === false || shown?.text === claim.text, 'the text of the other session stays its own');
  }),

  contractCase('parts() does not cross namespaces', async (world) => {
    const other = await second(world, 'elsewhere');
    const part = await valuePart('{"secret":true}');
    await append(world, [note('a')], { parts: [part] });
    assert.equal((await world.store.parts(other.ref, [part.digest])).parts.size, 0);
    await append(other, [note('b')], { parts: [part] });
    await world.store.deleteSession(world.ref);
    assert.equal((await world.store.parts(other.ref, [part.digest])).parts.size, 1);
  }),

  contractCase(
    'parts() refuses too many digests at once and is empty for a session that does not exist',
    async ({ store, ref }) => {
      await rejects(
        store.parts(
          ref,
          Array.from({ length: 1_001 }, () => noDigest),
        ),
        'limit.exceeded',
      );
      assert.equal((await store.parts({ ...ref, session: 'nowhere' }, [noDigest])).parts.size, 0);
    },
  ),
];

/** The guarantees of `heldParts`. */
export const heldPartsCases: readonly ContractCase[] = [
  contractCase('heldParts() pages through every digest a session holds, rising', async (world) => {
    const parts = await Promise.all(Array.from({ length: 25 }, (_, index) => valuePart(`{"n":${index}}`)));
    await append(world, [note('a')], { parts });
    const found = [];
    for (
      let page = await world.store.heldParts(world.ref, { limit: 10 });
      page.length > 0;
      page = await world.store.heldParts(world.ref, { limit: 10, after: page[page.length - 1] ?? noDigest })
    ) {
      assert.ok(page.length <= 10);
      found.push(...page);
    }
    assert.deepEqual(found, parts.map((part) => part.digest).sort());
    assert.deepEqual(await world.store.heldParts({ ...world.ref, session: 'nowhere' }, { limit: 10 }), []);
  }),
];
