import type { Edit } from '../../../src/core/view/edit.ts';

/** Opens the fork drawer with an edit that begins as what is there now. */
export type ChangeThis = (edit: Edit) => void;
