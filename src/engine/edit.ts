import type { Edit } from '../core/edit.ts';
import { RepriseError } from '../core/error.ts';
import type { Seq } from '../core/point.ts';
import { type PointInput, parsePoint } from '../core/ref.ts';
import { resolveEdits } from './edits.ts';
import type { Engine } from './engine.ts';
import { type Marked, type MarkOptions, mark } from './mark.ts';

/** What an edit did, and what it left in place although it depended on what went. */
export interface Edited extends Marked {
  readonly dependents: readonly Seq[];
}

/** Applies edits to a live branch: the same that a fork can be made with. */
export async function edit(
  engine: Engine,
  session: string,
  branch: PointInput,
  edits: Edit | readonly Edit[],
  options: MarkOptions = {},
): Promise<Edited> {
  const { branch: name, at } = parsePoint(branch);
  if (at.kind !== 'head') {
    throw new RepriseError(
      'edit.invalid',
      `Cannot edit "${name}" at a point in its past: an edit is appended at the head`,
      { hint: 'Name only the branch; the edit says which event it changes. To change the past apart, fork.' },
    );
  }
  const list = Array.isArray(edits) ? (edits as readonly Edit[]) : [edits as Edit];
  if (list.length === 0) throw new RepriseError('edit.invalid', 'Cannot edit: no edits were given');
  return mark(engine, session, name, options, async (place) => {
    const { drafts, dependents } = await resolveEdits(engine, place, list);
    return { drafts, more: { dependents } };
  });
}
