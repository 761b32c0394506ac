import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Event } from '../core/event/event.ts';
import { project } from '../core/event/projection.ts';
import type { Digest, Seq } from '../core/point.ts';
import { fingerprintProjection } from './fingerprint.ts';

const sha256 = (text: string): Digest => hash('sha256', text, 'hex') as Digest;
const note = (text: string): Event => ({
  session: 's',
  branch: 'main',
  seq: 1 as Seq,
  id: text,
  time: '',
  type: 'note.added',
  version: 1,
  turn: 0,
  data: { text },
  digest: '' as Digest,
});

test('the fingerprint is a projection over the view, kept under its scheme', () => {
  const projection = fingerprintProjection(sha256);
  expect(projection).toMatchObject({ name: 'fingerprint', version: 'rf1 1', history: 'view' });
  expect(project(projection, [note('a')])).toMatch(/^rf1:[0-9a-f]{64}$/);
  expect(project(projection, [note('a')])).toBe(project(fingerprintProjection(sha256), [note('a')]));
  expect(project(projection, [note('a'), note('b')])).not.toBe(project(projection, [note('b'), note('a')]));
});

test('the fingerprint of nothing is that of an empty list of lanes', () => {
  expect(project(fingerprintProjection(sha256), [])).toBe(`rf1:${sha256('')}`);
});
