import { missingMarks } from '../test-titles.ts';
import type { Rule } from '../tree.ts';

/** Traps others fell into, and which the model must not: docs/internals/traps.md tells each. */
const traps = ['T6', 'T7', 'T8', 'T9', 'T12', 'T13', 'T14', 'T16', 'T18'];

/** Every trap is named in the title of at least one test. */
export const rule: Rule = (tree) => missingMarks(tree, traps, 'the trap');
