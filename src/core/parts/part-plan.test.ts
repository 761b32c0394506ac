import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Digest } from '../point.ts';
import { type PartLookup, planParts, type StoredPart } from './part-plan.ts';
import type { PartInput } from './parts.ts';

const sha256 = (text: string): Digest => createHash('sha256').update(text).digest('hex') as Digest;
const body = (salt: string, text: string): PartInput => ({
  digest: sha256(salt + text),
  kind: 'body',
  salt,
  text,
  refs: [],
});

/** A body as the difference from another one that begins alike. */
function deltaOf(full: PartInput, base: PartInput): PartInput {
  const text = JSON.stringify({ base: base.digest, middle: full.text.slice(1), prefix: 1, suffix: 0 });
  return { ...full, kind: 'delta', text, refs: [base.digest] };
}

const storedAs = (part: PartInput): StoredPart => ({ id: 7, kind: part.kind, salt: part.salt, text: part.text });

/** A session that holds some parts, in a namespace that has one part. */
function sourceOf(stored: PartInput | undefined, held: readonly PartInput[] = []): PartLookup {
  return {
    isHeld: (digest) => held.some((part) => part.digest === digest),
    stored: (digest) => (stored?.digest === digest ? storedAs(stored) : undefined),
    part: (digest) => held.find((part) => part.digest === digest),
  };
}

describe('planParts()', () => {
  const full = body('s', 'a long body');
  const [mine, theirs] = [body('m', 'a base of mine'), body('t', 'a base of theirs')];

  it('adds what nobody has, shares what somebody has, and leaves out what the session holds', () => {
    expect(planParts(sourceOf(undefined), [full, full], sha256)).toEqual([{ kind: 'add', part: full }]);
    expect(planParts(sourceOf(full), [full], sha256)).toEqual([{ kind: 'share', part: full, id: 7 }]);
    expect(planParts(sourceOf(full, [full]), [full], sha256)).toEqual([]);
  });

  it('makes a whole body of what another session stored as a difference', () => {
    expect(planParts(sourceOf(deltaOf(full, theirs)), [full], sha256)).toEqual([
      { kind: 'complete', part: full, id: 7 },
    ]);
  });

  it('does not share a difference from a part that only the other session holds', () => {
    const [plan] = planParts(sourceOf(deltaOf(full, theirs), [mine]), [deltaOf(full, mine)], sha256);
    expect(plan).toEqual({ kind: 'complete', part: full, id: 7 });
  });

  it('shares the same difference, and a whole body with who brings a difference', () => {
    const delta = deltaOf(full, mine);
    expect(planParts(sourceOf(delta, [mine]), [delta], sha256)).toEqual([{ kind: 'share', part: delta, id: 7 }]);
    expect(planParts(sourceOf(full, [mine]), [delta], sha256)).toEqual([{ kind: 'share', part: delta, id: 7 }]);
  });

  it('refuses a difference that does not give the body of its digest', () => {
    const wrong = { ...deltaOf(full, mine), text: deltaOf(body('s', 'another body'), mine).text };
    expect(() => planParts(sourceOf(full, [mine]), [wrong], sha256)).toThrow(/does not match its digest/);
  });

  it('keeps a hole to the session that has it', () => {
    const hole = { ...full, damaged: true };
    expect(planParts(sourceOf(full), [hole], sha256)).toEqual([{ kind: 'hole', part: hole }]);
  });
});
