import { expect, test } from 'vitest';
import type { Seq } from '../../core/point.ts';
import type { Piece } from '../../core/view/piece.ts';
import { stagesOf } from './fold-stages.ts';

const range = (after: number, through: number): Piece => ({
  kind: 'range',
  branch: 'main',
  after: after as Seq,
  through: through as Seq,
});
const fold = (name: string, ...pieces: Piece[]) => ({ name, rest: { pieces } });
const told = (...folds: ReturnType<typeof fold>[]) =>
  stagesOf(folds).map((stage) => [stage.part.pieces, stage.folds.map(({ name }) => name)]);

test('folds that begin close to each other are one stage, and a fold with nothing left is in none', () => {
  const [all, end] = [fold('all', range(0, 10), range(20, 300)), fold('end', range(120, 300))];
  expect(told(end, fold('none'), all)).toEqual([
    [
      [range(0, 10), range(20, 300)],
      ['all', 'end'],
    ],
  ]);
});

test('a fold that begins late is not brought everything before', () => {
  const [all, late] = [fold('all', range(0, 10), range(20, 5_000)), fold('late', range(4_900, 5_000))];
  const latest = fold('latest', range(4_990, 5_000));
  expect(told(latest, late, all)).toEqual([
    [[range(0, 10), range(20, 4_900)], ['all']],
    [[range(4_900, 5_000)], ['all', 'late', 'latest']],
  ]);
});

test('a stage ends between two pieces where the next fold begins with a whole one', () => {
  const [all, late] = [fold('all', range(0, 1_000), range(2_000, 2_100)), fold('late', range(2_000, 2_100))];
  expect(told(all, late)).toEqual([
    [[range(0, 1_000)], ['all']],
    [[range(2_000, 2_100)], ['all', 'late']],
  ]);
});
