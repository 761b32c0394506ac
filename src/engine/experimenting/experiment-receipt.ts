import { RepriseError } from '../../core/error.ts';
import { arrayAt, isObject, type JsonObject, type JsonValue, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { shownValue } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import { beginning, seq as checkedSeq, later, type Point } from '../../core/point.ts';
import { append } from '../changing/append.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { metadataAt } from '../history/metadata.ts';
import { placeAtHead, sessionRecord } from '../history/place.ts';
import { readPoints } from '../history/stored-events.ts';
import { recordingDefaults } from '../recording/recording-defaults.ts';
import type { ExperimentRow } from './experiment-result.ts';

/** The metadata key that the receipt of a branch is kept under. A fork of the branch does not inherit it. */
const experimentKey = 'reprise.experiment';

/** The receipt of one branch of an experiment: of which experiment, point, variant and repeat it is, and its row. */
export interface ExperimentReceipt {
  readonly id: string;
  /** A digest of what the experiment tries: the variants and the point. */
  readonly plan: string;
  readonly session: string;
  readonly point: Point;
  readonly original: string;
  /** The names of all variants, in order. */
  readonly variants: readonly string[];
  /** How many branches the experiment has when it is complete. */
  readonly total: number;
  readonly variant: string;
  readonly repeat: number;
  readonly branch: string;
  /** Undefined while the branch has not ended, and if the process died. */
  readonly row: ExperimentRow | undefined;
}

/** Returns the metadata that a branch of an experiment begins with. */
export function receiptMetadata({
  row: _row,
  session: _session,
  branch: _branch,
  ...held
}: ExperimentReceipt): JsonObject {
  return { [experimentKey]: { ...held, point: { ...held.point }, variants: [...held.variants] } };
}

/** Keeps the row of a branch that has ended, masked as everything that is recorded. */
export async function keepRow(engine: Engine, receipt: ExperimentReceipt, row: ExperimentRow): Promise<void> {
  const held = receiptMetadata(receipt)[experimentKey];
  const text = row.text.length > limits.receiptTextMax ? `${row.text.slice(0, limits.receiptTextMax)}…` : row.text;
  const kept = JSON.parse(JSON.stringify({ ...row, text: text.toWellFormed() })) as JsonValue;
  const set = { [experimentKey]: { ...(isObject(held) ? held : {}), row: kept } };
  const { mask } = recordingDefaults(engine, await sessionRecord(engine, receipt.session), {});
  const draft = { type: 'metadata.changed', data: { set } };
  await append(engine, receipt.session, mask?.(draft) ?? draft, { branch: row.branch });
}

/** Reads the receipts of a session's branches, of one experiment or of all, in the order of their branches. */
export async function receiptsOf(engine: Engine, session: string, id?: string): Promise<readonly ExperimentReceipt[]> {
  const branches = await engine.store.branches(sessionRef(engine, session));
  const forks = branches.flatMap(({ branch, parent }) =>
    parent === undefined ? [] : [{ branch, seq: later(parent.seq ?? beginning, 1) }],
  );
  const forked = forks.length === 0 ? [] : await readPoints(engine, session, forks);
  const receipts: ExperimentReceipt[] = [];
  for (const { branch, data } of forked) {
    const begun = receiptFrom(session, branch, objectAt(objectAt(data, 'metadata'), experimentKey));
    if (begun === undefined || (id !== undefined && begun.id !== id)) continue;
    const now = await metadataAt(engine, await placeAtHead(engine, session, branch));
    receipts.push(receiptFrom(session, branch, objectAt(now, experimentKey)) ?? begun);
  }
  return receipts;
}

function receiptFrom(session: string, branch: string, held: JsonObject | undefined): ExperimentReceipt | undefined {
  const point = objectAt(held, 'point');
  const [id, plan, variant] = [stringAt(held, 'id'), stringAt(held, 'plan'), stringAt(held, 'variant')];
  if (held === undefined || id === undefined || plan === undefined || variant === undefined) return undefined;
  const row = objectAt(held, 'row');
  return {
    id,
    plan,
    session,
    point: { branch: stringAt(point, 'branch') ?? '', seq: checkedSeq(numberAt(point, 'seq') ?? 0) },
    original: stringAt(held, 'original') ?? '',
    variants: (arrayAt(held, 'variants') ?? []).map(String),
    total: numberAt(held, 'total') ?? 0,
    variant,
    repeat: numberAt(held, 'repeat') ?? 1,
    branch,
    // It was written by `keepRow`, and it is only ever in metadata under a reserved key.
    row: row === undefined ? undefined : ({ ...row, branch, session } as unknown as ExperimentRow),
  };
}

/** Returns true if a branch has its result: one that was stopped, that the budget of the whole cut off, or whose process died, has none. */
function isFinished({ row }: ExperimentReceipt): boolean {
  return row !== undefined && row.errorCode !== 'resume.aborted' && row.errorCode !== 'experiment.over-budget';
}

/** Returns the receipts with a result by variant and repeat; of two, the later one. */
export function finishedRows(receipts: readonly ExperimentReceipt[]): ReadonlyMap<string, ExperimentRow> {
  return new Map(
    receipts.flatMap((receipt) =>
      isFinished(receipt) && receipt.row !== undefined ? [[rowKey(receipt), receipt.row] as const] : [],
    ),
  );
}

/** Returns the key of a row within an experiment. */
export function rowKey({
  session,
  variant,
  repeat,
}: Pick<ExperimentReceipt, 'session' | 'variant' | 'repeat'>): string {
  return JSON.stringify([session, variant, repeat]);
}

/** The error for an id that no branch has a receipt of. */
export function experimentNotFound(id: string, where: string): RepriseError {
  return new RepriseError('experiment.not-found', `Cannot find experiment ${shownValue(id)} in ${where}`, {
    hint: 'The id is in the output of the experiment, and in the metadata of its branches.',
    details: { id },
  });
}
