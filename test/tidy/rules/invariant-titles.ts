import { missingMarks } from '../test-titles.ts';
import type { Rule } from '../tree.ts';

const invariants = ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I9', 'I10'];

/** Every invariant of the model is named in the title of at least one test. */
export const rule: Rule = (tree) => missingMarks(tree, invariants, 'the invariant');
