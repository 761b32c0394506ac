import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Comparison, DiffPair, Reprise } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';
import { type Command, SessionRun } from './session-run.ts';
import type { ViewModel } from './view-model.ts';

const kind = fc.constantFrom<Command[0][]>(
  'add',
  'add',
  'add',
  'add',
  'replace',
  'insert',
  'revert',
  'rewind',
  'rewindToTurn',
  'fork',
  'fork',
  'erase',
);
const command: fc.Arbitrary<Command> = fc.tuple(kind, fc.nat(20), fc.nat(60), fc.nat(5));
const commands = fc.array(command, { minLength: 1, maxLength: 30, size: 'max' });
const picks = fc.array(fc.tuple(fc.nat(1_000), fc.nat(1_000)), { minLength: 4, maxLength: 8 });

/** A point of a session and what the slow model says is there. */
interface Place {
  readonly ref: string;
  readonly session: string;
  readonly raw: readonly string[];
  readonly seqs: readonly number[];
  readonly texts: readonly string[];
}

/** Every point of every branch. Both sessions name their texts by count, so what they say overlaps. */
function placesOf(session: string, { model }: SessionRun): Place[] {
  return [...model.branches.keys()].flatMap((branch) =>
    Array.from({ length: model.head(branch) + 1 }, (_, seq): Place => {
      const entries = model.view(branch, seq);
      return {
        ref: `${session}/${branch}@${seq}`,
        session,
        raw: model.raw(branch, seq).map((event) => `${ownerOf(model, branch, event.seq)}@${event.seq}`),
        seqs: entries.map((entry) => entry.seq),
        texts: entries.map((entry) => (model.forgotten.has(entry.text) ? 'erased' : entry.text)),
      };
    }),
  );
}

/** The branch that stores the event at a seq of a branch. */
function ownerOf(model: ViewModel, branch: string, seq: number): string {
  const parent = model.branches.get(branch)?.parent ?? null;
  return parent === null || seq > parent.seq ? branch : ownerOf(model, parent.branch, seq);
}

function checkCounts(diff: Comparison, left: Place, right: Place): void {
  const { matched, changed, onlyLeft, onlyRight, counts } = diff;
  expect([matched + changed + onlyLeft, matched + changed + onlyRight]).toEqual([left.seqs.length, right.seqs.length]);
  const total = (name: 'matched' | 'changed' | 'onlyLeft' | 'onlyRight'): number =>
    Object.values(counts).reduce((sum, ofType) => sum + ofType[name], 0);
  expect((['matched', 'changed', 'onlyLeft', 'onlyRight'] as const).map(total)).toEqual([
    matched,
    changed,
    onlyLeft,
    onlyRight,
  ]);
}

/** Every event of both sides is in one pair, in order, and pairs say the truth about both. */
function checkPairs({ pairs }: Comparison, left: Place, right: Place): void {
  expect(pairs.flatMap((pair) => ('left' in pair ? [pair.left] : []))).toEqual(left.seqs);
  expect(pairs.flatMap((pair) => ('right' in pair ? [pair.right] : []))).toEqual(right.seqs);
  for (const pair of pairs) {
    if (pair.kind !== 'equal' && pair.kind !== 'changed') continue;
    const said = [left.texts[left.seqs.indexOf(pair.left)], right.texts[right.seqs.indexOf(pair.right)]];
    expect(said[0] === said[1], `${pair.kind} ${said.join(' and ')}`).toBe(pair.kind === 'equal');
  }
}

/** Index of the pair that a place of a diff stands at: both sides' next events are those of the place. */
function indexOf(pairs: readonly DiffPair[], place: { readonly left: number | null; readonly right: number | null }) {
  const next = (index: number, side: 'left' | 'right'): number | null =>
    (pairs.slice(index).find((pair) => side in pair) as { left?: number; right?: number } | undefined)?.[side] ?? null;
  return pairs.findIndex((_, index) => next(index, 'left') === place.left && next(index, 'right') === place.right);
}

function checkPlaces({ pairs, identical, divergedAt, sustainedAt, reconvergedAt }: Comparison): void {
  const differing = pairs.findIndex((pair) => pair.kind !== 'equal');
  expect([divergedAt === null, differing === -1]).toEqual([identical, identical]);
  if (divergedAt === null) {
    expect([sustainedAt, reconvergedAt]).toEqual([null, []]);
    return;
  }
  const first = indexOf(pairs, divergedAt);
  expect(first).toBe(differing);
  const returns = reconvergedAt.map((place) => indexOf(pairs, place));
  for (const at of returns) {
    expect(at).toBeGreaterThan(first);
    expect(pairs.slice(at, at + 3).map((pair) => pair.kind)).toEqual(['equal', 'equal', 'equal']);
  }
  // They part for good at the first difference after they were last together.
  const lastReturn = Math.max(0, ...returns);
  const after = pairs.findIndex((pair, index) => index >= lastReturn && pair.kind !== 'equal');
  expect(sustainedAt === null ? -1 : indexOf(pairs, sustainedAt)).toBe(after);
  if (sustainedAt !== null) expect(after).toBeGreaterThanOrEqual(first);
}

const mirrored = { equal: 'equal', changed: 'changed', onlyLeft: 'onlyRight', onlyRight: 'onlyLeft' } as const;

function checkMirror(diff: Comparison, back: Comparison): void {
  expect([back.identical, back.matched, back.changed, back.onlyLeft, back.onlyRight]).toEqual([
    diff.identical,
    diff.matched,
    diff.changed,
    diff.onlyRight,
    diff.onlyLeft,
  ]);
  const equal = (pairs: readonly DiffPair[], [left, right]: readonly ['left' | 'right', 'left' | 'right']) =>
    pairs.flatMap((pair) => (pair.kind === 'equal' || pair.kind === 'changed' ? [[pair[left], pair[right]]] : []));
  expect(equal(back.pairs, ['right', 'left'])).toEqual(equal(diff.pairs, ['left', 'right']));
  const kinds = (pairs: readonly DiffPair[]): string[] => pairs.map((pair) => pair.kind).sort();
  expect(kinds(back.pairs.map((pair) => ({ ...pair, kind: mirrored[pair.kind] }) as DiffPair))).toEqual(
    kinds(diff.pairs),
  );
}

async function checkDiff(reprise: Reprise, left: Place, right: Place): Promise<void> {
  const diff = await reprise.diff(left.ref, right.ref);
  const about = `${left.ref} and ${right.ref}`;
  expect(diff.identical, about).toBe(JSON.stringify(left.texts) === JSON.stringify(right.texts));
  checkCounts(diff, left, right);
  checkPairs(diff, left, right);
  checkPlaces(diff);
  checkMirror(diff, await reprise.diff(right.ref, left.ref));
  const shared = left.raw.findIndex((event, index) => event !== right.raw[index]);
  const common = shared === -1 ? left.raw.length : shared;
  expect(diff.forkPoint?.seq ?? null, about).toBe(left.session === right.session ? common : null);
  const strict = await reprise.diff(left.ref, right.ref, { strict: true });
  const lengths = [left.seqs.length, right.seqs.length] as const;
  expect([strict.identical, strict.matched], about).toEqual([lengths[0] === lengths[1], Math.min(...lengths)]);
  expect([strict.onlyLeft.length, strict.onlyRight.length]).toEqual([
    Math.max(0, lengths[0] - lengths[1]),
    Math.max(0, lengths[1] - lengths[0]),
  ]);
}

async function runAll(
  store: string,
  histories: readonly (readonly Command[])[],
  pairs: readonly (readonly [number, number])[],
): Promise<void> {
  await using reprise = await openWith({ store, durability: 'process' }, { snapshotEvents: 2 });
  const places: Place[] = [];
  for (const [index, history] of histories.entries()) {
    const run = new SessionRun(reprise, await reprise.createSession(`s${index}`));
    for (const one of history) await run.run(one);
    places.push(...placesOf(`s${index}`, run));
  }
  for (const [l, r] of pairs)
    await checkDiff(reprise, places[l % places.length] as Place, places[r % places.length] as Place);
}

describe('reprise.diff of any two points of any two histories', () => {
  const histories = fc.tuple(commands, commands);

  it('is identical just when both say the same, counts every event once, mirrors, and parts before it parts for good', () =>
    fc.assert(
      fc.asyncProperty(histories, picks, (both, pairs) => runAll('memory:', both, pairs)),
      { numRuns: runCount() },
    ));

  it('does so on SQLite', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(histories, picks, (both, pairs) => runAll(`sqlite:${freshPath()}`, both, pairs)),
        { numRuns: runCount(1 / 4) },
      ),
    ));
});
