import { type ErrorJson, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { Seq } from '../../core/point.ts';
import type { EffectPolicy } from '../../core/recording/effects.ts';
import type { Edit } from '../../core/view/edit.ts';
import type { Erased } from '../../engine/erasing/erase.ts';
import type { ForeseenCall, ForeseenTool } from '../../engine/resuming/foreseen-calls.ts';
import type { Session } from '../../engine/session.ts';
import { metadata } from '../../projections/metadata.ts';
import { type EventLine, eventLine, eventsAt } from './shown-events.ts';

/** The consequences of edits at a point, before they are made. */
export interface EditPreview {
  /** The first edit that cannot be applied, by its place in the list; null if all can. */
  readonly refused: { readonly edit: number; readonly error: ErrorJson } | null;
  /** Events that leave the view: those an edit drops, and those that go with them. */
  readonly gone: readonly EventLine[];
  /** Events that depend on those and stay. */
  readonly dependents: readonly EventLine[];
  /** How many of each there are, whatever is listed. */
  readonly counts: { readonly gone: number; readonly dependents: number };
  /** The calls that a run would make first, and those that the original made later, each with what becomes of it. */
  readonly calls: readonly ForeseenCall[];
  /** The fate of a call with new arguments, for each tool of the session. */
  readonly otherwise: readonly ForeseenTool[];
  /** Why a run could not begin here; null if it could. */
  readonly cannotRun: ErrorJson | null;
}

/** Which edits to preview, and where. */
export interface PreviewReading {
  readonly branch: string;
  readonly seq: Seq;
  readonly edits: readonly Edit[];
  readonly effects?: EffectPolicy;
}

/** Returns what edits would take out, what depends on it, and what would become of the recorded calls after the point. */
export async function previewEdits(session: Session, reading: PreviewReading): Promise<EditPreview> {
  const { branch, seq, edits, effects } = reading;
  const refused = await refusal(session, reading);
  const { excluded, dependents } =
    refused === null && edits.length > 0
      ? await session.at({ branch, seq }).counterfactual(metadata, { edits })
      : { excluded: [], dependents: [] };
  const foreseen = await session
    .at({ branch, seq })
    .resumable(given({ effects }))
    .then(
      ({ calls, otherwise }) => ({ calls, otherwise, cannotRun: null }),
      (error: unknown) => ({ calls: [], otherwise: [], cannotRun: dataOf(error) }),
    );
  return {
    refused,
    gone: await linesOf(session, branch, excluded),
    dependents: await linesOf(session, branch, dependents),
    counts: { gone: excluded.length, dependents: dependents.length },
    ...foreseen,
  };
}

/** Finds the first edit that cannot be applied. */
async function refusal(session: Session, { branch, seq, edits }: PreviewReading): Promise<EditPreview['refused']> {
  const tried = async (count: number): Promise<ErrorJson | undefined> => {
    try {
      await session.at({ branch, seq }).fold(metadata, { edits: edits.slice(0, count) });
      return undefined;
    } catch (error) {
      return dataOf(error);
    }
  };
  if ((await tried(edits.length)) === undefined) return null;
  for (let count = 1; count <= edits.length; count++) {
    const error = await tried(count);
    if (error !== undefined) return { edit: count - 1, error };
  }
  return null;
}

/** Returns an error of ours as plain data; throws any other. */
function dataOf(error: unknown): ErrorJson {
  if (error instanceof RepriseError) return error.toJSON();
  throw error;
}

async function linesOf(session: Session, branch: string, seqs: readonly number[]): Promise<EventLine[]> {
  return (await eventsAt(session, branch, seqs.slice(0, limits.shownEventsMax))).map(eventLine);
}

/** The consequences of a change on a branch itself, before it is made. */
export interface ChangePreview {
  /** Events that leave the view; of an erasure, events of this branch whose payload goes. */
  readonly gone: readonly EventLine[];
  /** Events that come back into it. */
  readonly restored: readonly EventLine[];
  /** Events that depend on those that leave, and stay. */
  readonly dependents: readonly EventLine[];
  readonly counts: { readonly gone: number; readonly restored: number; readonly dependents: number };
  /** Of an erasure, every event whose payload goes; null for the other changes. */
  readonly erased: Erased['events'] | null;
}

/** The verbs that change a branch itself. */
export const changeNames = ['rewind', 'revert', 'redo', 'erase'] as const;

/** Returns what a rewind, revert, redo or erasure would do. It writes nothing. */
export async function previewChange(
  session: Session,
  {
    branch,
    seq,
    change,
    options = {},
  }: {
    readonly branch: string;
    readonly seq: Seq;
    readonly change: (typeof changeNames)[number];
    readonly options?: object;
  },
): Promise<ChangePreview> {
  const dry = { ...options, dryRun: true };
  if (change === 'erase') return erasePreview(session, branch, await session.erase({ branch, seq }, dry));
  const { head } = await session.branch(branch).locate();
  const marked =
    change === 'rewind'
      ? await session.branch(branch).rewind(seq, dry)
      : change === 'revert'
        ? await session.branch(branch).revert(seq, dry)
        : await session.branch(branch).redo(dry);
  const isStored = (held: Seq): boolean => held <= head;
  const [gone, restored] = [marked.undone.filter(isStored), marked.restored.filter(isStored)];
  const dependents = 'dependents' in marked ? (marked.dependents as readonly Seq[]) : [];
  return {
    gone: await linesOf(session, branch, gone),
    restored: await linesOf(session, branch, restored),
    dependents: await linesOf(session, branch, dependents),
    counts: { gone: gone.length, restored: restored.length, dependents: dependents.length },
    erased: null,
  };
}

async function erasePreview(session: Session, branch: string, { events }: Erased): Promise<ChangePreview> {
  const own = events.filter((event) => event.session === session.id && event.branch === branch).map(({ seq }) => seq);
  return {
    gone: await linesOf(session, branch, own),
    restored: [],
    dependents: [],
    counts: { gone: events.length, restored: 0, dependents: 0 },
    erased: events.slice(0, limits.shownRowsMax),
  };
}
