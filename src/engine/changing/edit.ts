import { RepriseError } from '../../core/error.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { listOf } from '../../core/list.ts';
import type { Seq } from '../../core/point.ts';
import type { Edit } from '../../core/view/edit.ts';
import type { Engine } from '../context/engine.ts';
import { resolveEdits } from '../editing/resolve-edits.ts';
import { hypothesisAt } from '../history/hypothesis.ts';
import type { Place } from '../history/place.ts';
import { type Marked, type MarkOptions, mark, markOptionNames } from './mark.ts';

/** The change an edit made, and the seqs it left in place although they depend on events that it took out. */
export interface Edited extends Marked {
  readonly dependents: readonly Seq[];
}

const editKeys: KnownKeys = optionKeys<MarkOptions>('edit', markOptionNames, 'an edit');

/** Applies edits to a live branch: the same edits that a fork can have. */
export async function edit(
  engine: Engine,
  head: Place,
  edits: Edit | readonly Edit[],
  options: MarkOptions = {},
): Promise<Edited> {
  checkKeys(options, editKeys);
  const list = listOf(edits);
  if (list.length === 0) {
    throw new RepriseError('edit.invalid', 'Cannot edit: no edits were given', {
      hint: 'Pass at least one edit: a prompt, a model, a tool result, or an event to replace or drop.',
    });
  }
  return mark(engine, { head, options }, async (place) => {
    const { drafts, dependents } = await resolveEdits(engine, hypothesisAt(place), list, 'write');
    return { drafts, more: { dependents } };
  });
}
