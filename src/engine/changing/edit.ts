import { RepriseError } from '../../core/error.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import type { PointInput } from '../../core/ref.ts';
import type { Edit } from '../../core/view/edit.ts';
import type { Engine } from '../context/engine.ts';
import { resolveEdits } from '../editing/resolve-edits.ts';
import { asItIs } from '../history/hypothesis.ts';
import { branchAtHead, type Marked, type MarkOptions, mark, markOptionNames } from './mark.ts';

/** What an edit did, and what it left in place although it depended on what went. */
export interface Edited extends Marked {
  readonly dependents: readonly Seq[];
}

const editKeys: KnownKeys = optionKeys<MarkOptions>('edit', markOptionNames, 'an edit');

/** Applies edits to a live branch: the same that a fork can be made with. */
export async function edit(
  engine: Engine,
  session: string,
  branch: PointInput,
  edits: Edit | readonly Edit[],
  options: MarkOptions = {},
): Promise<Edited> {
  checkKeys(options, editKeys);
  const name = branchAtHead(branch, 'edit');
  const list = Array.isArray(edits) ? (edits as readonly Edit[]) : [edits as Edit];
  if (list.length === 0) {
    throw new RepriseError('edit.invalid', 'Cannot edit: no edits were given', {
      hint: 'Say what shall be another: a prompt, a model, an answer, an event to replace or drop …',
    });
  }
  return mark(engine, session, name, options, async (place) => {
    const { drafts, dependents } = await resolveEdits(engine, asItIs(place), list);
    return { drafts, more: { dependents } };
  });
}
