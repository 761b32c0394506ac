import assert from 'node:assert/strict';
import {
  append,
  type ContractCase,
  contractCase,
  input,
  noDigest,
  note,
  refused,
  saltedPart,
  valuePart,
} from './contract-case.ts';

/** The guarantees of `append` about parts. */
export const appendParts: readonly ContractCase[] = [
  contractCase('append() refuses events and parts that refer to a part nobody gave', async (world) => {
    const list = await saltedPart('list', `{"items":[{"$part":"${noDigest}"}],"previous":null}`, [noDigest]);
    const error = await refused(world, 'part.missing', [input('message.added', { message: { $part: noDigest } })]);
    assert.equal(error.details['digest'], noDigest);
    await refused(world, 'part.missing', [note('a')], { parts: [list] });
    assert.deepEqual(await world.store.heldParts(world.ref, { limit: 10 }), []);
  }),

  contractCase('append() takes a part that is given, or held since an earlier append', async (world) => {
    const part = await valuePart('{"content":"hello"}');
    await append(world, [input('message.added', { message: { $part: part.digest } })], { parts: [part] });
    await append(world, [input('message.added', { message: { $part: part.digest } })]);
    assert.deepEqual(await world.store.heldParts(world.ref, { limit: 10 }), [part.digest]);
  }),

  contractCase('append() refuses a part whose text is not what its digest says', async (world) => {
    const part = await valuePart('{"content":"hello"}');
    await refused(world, 'part.damaged', [note('a')], { parts: [{ ...part, text: '{"content":"other"}' }] });
    const body = await saltedPart('body', 'raw');
    await refused(world, 'part.damaged', [note('a')], { parts: [{ ...body, salt: 'other' }] });
  }),

  contractCase('append() keeps no part of a refused request', async (world) => {
    const part = await valuePart('{"content":"hello"}');
    await refused(world, 'event.not-found', [note('a', { cause: 'nowhere' })], { parts: [part] });
    await refused(world, 'part.missing', [input('message.added', { message: { $part: part.digest } })]);
  }),

  contractCase('append() takes user keys that look like references for what they are', async (world) => {
    await append(world, [input('note.added', { text: 'a', $$part: 'not a reference', list: [{ $$list: 1 }] })]);
  }),
];
