import type { StrictDiff } from '../core/comparing/diff-strict.ts';
import type { Belief } from '../core/fleet/belief.ts';
import type { Masker } from '../core/masking/masking.ts';
import type { Agent } from '../core/recording/agent.ts';
import type { PointInput, Ref } from '../core/ref.ts';
import type { SessionRecord } from '../core/store/event-store.ts';
import type { FleetState } from './believing/fleet-at.ts';
import type { OnBranch } from './believing/fleet-look.ts';
import {
  type BeliefsAtOptions,
  checkBeliefsAt,
  checkFleetAt,
  pointOfTimes,
  type TwoTimes,
} from './believing/fleet-times.ts';
import type { BundleOptions, ExportedBundle } from './bundling/write-bundle.ts';
import type { MarkConsequences } from './changing/mark.ts';
import type { Engine } from './context/engine.ts';
import type { Copied, CopyOptions } from './copying/copy-options.ts';
import type { Erased, EraseOptions } from './erasing/erase.ts';
import type { ExperimentOptions, ExperimentSetOptions } from './experimenting/experiment-options.ts';
import type { ExperimentResult, ExperimentSetResult } from './experimenting/experiment-result.ts';
import { findPlace, type Place } from './history/place.ts';
import type { Exported, ExportedPiece, HandedBack } from './importing/export.ts';
import type { Imported, ImportFailure, ImportOptions, ImportSource } from './importing/import-options.ts';
import type { CompareOptions, Comparison } from './looking/compare.ts';
import type { ConsistencyProof, InclusionProof } from './proving/event-proof.ts';
import type { ProveOptions } from './proving/prove.ts';
import type { Repaired } from './proving/repair.ts';
import type { Verification, VerifyOptions } from './proving/verify.ts';
import type { DeepResult } from './proving/verify-deep.ts';
import type { AnyProjection } from './proving/verify-snapshots.ts';
import type { RecordOptions } from './recording/record-options.ts';
import type { SessionRecorder } from './recording/recorder.ts';
import type { Resumable, ResumableOptions } from './resuming/resumable.ts';
import type { ResumeOptions, ResumeResult, ResumeTarget } from './resuming/resume.ts';
import type { RetryOptions, RetryResult } from './resuming/retry.ts';

// Recording, resuming, comparing, erasing and verifying are loaded on first use: a command that prints one line should
// not wait for all that code.

/** Opens a recorder on a branch; see `record.ts`. */
export async function record(engine: Engine, session: string, options: RecordOptions): Promise<SessionRecorder> {
  return (await import('./recording/record.ts')).record(engine, session, options);
}

/** Makes the masker of a session; see `session-masking.ts`. */
export async function masker(engine: Engine, session: string): Promise<Masker> {
  const { sessionMasking } = await import('./recording/session-masking.ts');
  return (await sessionMasking(engine, session)).mask ?? ((event) => event);
}

/** Continues a branch on an agent; see `resume.ts`. */
export async function resume<Run, Result>(
  engine: Engine,
  target: ResumeTarget,
  agent: Agent<Run, Result>,
  options: ResumeOptions<Run>,
): Promise<ResumeResult<Result>> {
  return (await import('./resuming/resume.ts')).resume(engine, target, agent, options);
}

/** Returns what a resume would hand over; see `resumable.ts`. */
export async function resumable(engine: Engine, place: Place, options: ResumableOptions): Promise<Resumable> {
  return (await import('./resuming/resumable.ts')).resumable(engine, place, options);
}

/** Retries a run or a task; see `retry.ts`. */
export async function retry<Run, Result>(
  engine: Engine,
  session: string,
  what: PointInput,
  agent: Agent<Run, Result>,
  options: RetryOptions<Run>,
): Promise<RetryResult<Result>> {
  const { retry, retryPlace } = await import('./resuming/retry.ts');
  return retry(engine, await retryPlace(engine, session, what), agent, options);
}

/** Runs several variants from one point; see `experiment.ts`. */
export async function experiment<Run, Result>(
  engine: Engine,
  place: Place,
  options: ExperimentOptions<Run, Result>,
): Promise<ExperimentResult> {
  return (await import('./experimenting/experiment.ts')).experiment(engine, place, options);
}

/** Runs several variants on many sessions; see `experiment.ts`. */
export async function experimentSet<Run, Result>(
  engine: Engine,
  options: ExperimentSetOptions<Run, Result>,
): Promise<ExperimentSetResult> {
  return (await import('./experimenting/experiment.ts')).experimentSet(engine, options);
}

/** Rebuilds the result of an experiment; see `experiment.ts`. */
export async function findExperiment(engine: Engine, id: string): Promise<ExperimentSetResult> {
  return (await import('./experimenting/experiment.ts')).findExperiment(engine, id);
}

/** Imports one source into a session, or copies a bundle; see `import.ts` and `import-bundle.ts`. */
export async function importOne(engine: Engine, source: ImportSource, options: ImportOptions): Promise<Imported> {
  if (await isBundle(engine, source))
    return (await import('./bundling/import-bundle.ts')).importBundle(engine, String(source), options);
  return (await import('./importing/import.ts')).importOne(await withFormats(engine), source, options);
}

/** Returns an engine that holds every format. */
async function withFormats(engine: Engine): Promise<Engine> {
  const loaded = (await engine.loadFormats()).map((format) => [format.name, format] as const);
  return loaded.length === 0 ? engine : { ...engine, formats: new Map([...loaded, ...engine.formats]) };
}

/** Tells whether a source is the path of a bundle. */
async function isBundle(engine: Engine, source: ImportSource): Promise<boolean> {
  return typeof source === 'string' && (await engine.bundles.isBundle(source));
}

/** Imports every source of a folder; see `import.ts`. */
export async function* importEach(
  engine: Engine,
  source: ImportSource,
  options: ImportOptions,
): AsyncGenerator<Imported | ImportFailure, void, undefined> {
  if (await isBundle(engine, source)) yield await importOne(engine, source, options);
  else yield* (await import('./importing/import.ts')).importEach(await withFormats(engine), source, options);
}

/** Writes the view at a ref in a foreign format; see `export.ts`. */
export async function exportText(engine: Engine, ref: Ref, format: string): Promise<string> {
  return (await import('./importing/export.ts')).exportText(await withFormats(engine), ref, format);
}

/** Writes the view at a ref as the files of a foreign format; see `export.ts`. */
export async function exportFiles(engine: Engine, ref: Ref, format: string): Promise<Exported> {
  return (await import('./importing/export.ts')).exportFiles(await withFormats(engine), ref, format);
}

/** Writes the view at a ref in a foreign format, piece by piece; see `export.ts`. */
export async function* exportPieces(
  engine: Engine,
  ref: Ref,
  format: string,
): AsyncGenerator<ExportedPiece, void, undefined> {
  yield* (await import('./importing/export.ts')).exportPieces(await withFormats(engine), ref, format);
}

/** Writes the view at a ref as its tool resumes it; see `export.ts`. */
export async function handBack(engine: Engine, ref: Ref, format: string): Promise<HandedBack> {
  return (await import('./importing/export.ts')).handBack(await withFormats(engine), ref, format);
}

/** Writes a session or a history as a bundle; see `write-bundle.ts`. */
export async function writeBundle(
  engine: Engine,
  ref: Ref,
  isWhole: boolean,
  options: BundleOptions,
): Promise<ExportedBundle> {
  return (await import('./bundling/write-bundle.ts')).writeBundle(engine, ref, isWhole, options);
}

/** Proves that an event is part of a history; see `prove.ts`. */
export async function prove(
  engine: Engine,
  ref: Ref,
  options: ProveOptions,
): Promise<InclusionProof | ConsistencyProof> {
  return (await import('./proving/prove.ts')).prove(engine, ref, options);
}

/** Returns the claims that stand at a moment; see `fleet-at.ts`. */
export async function beliefsAt(engine: Engine, on: OnBranch, options: BeliefsAtOptions): Promise<readonly Belief[]> {
  checkBeliefsAt(options);
  const where = (): Promise<Place> => findPlace(engine, on.session, pointOfTimes(on.branch, options));
  return (await import('./believing/fleet-at.ts')).beliefsAt(engine, where, options);
}

/** Returns who is there at a moment; see `fleet-at.ts`. */
export async function fleetAt(engine: Engine, on: OnBranch, where: PointInput | TwoTimes): Promise<FleetState> {
  const times = checkFleetAt(where);
  const place = (): Promise<Place> => findPlace(engine, on.session, pointOfTimes(on.branch, times));
  return (await import('./believing/fleet-at.ts')).fleetAt(engine, place, times);
}

/** Returns the consequences of markers on beliefs, for the verbs that mark a history; see `settle-marked.ts`. */
export function beliefConsequences(engine: Engine): MarkConsequences {
  return async (place, markers) => {
    const { settleMarked } = await import('./believing/settle-marked.ts');
    return (await settleMarked(engine, place, markers)).drafts;
  };
}

/** Compares the views at two refs by how they behaved; see `compare.ts`. */
export async function compare(engine: Engine, left: Ref, right: Ref, options: CompareOptions): Promise<Comparison> {
  const compared = await (await import('./looking/compare.ts')).compare(engine, left, right, options);
  if (options.beliefs !== true) return compared;
  const { compareBeliefs } = await import('./believing/compare-beliefs.ts');
  return { ...compared, beliefs: await compareBeliefs(engine, left, right, options.fromTurn) };
}

/** Compares the views at two refs by position and type; see `compare.ts`. */
export async function compareStrictly(
  engine: Engine,
  left: Ref,
  right: Ref,
  options: CompareOptions & { readonly strict?: boolean; readonly format?: string },
): Promise<StrictDiff> {
  const looking = await import('./looking/compare.ts');
  looking.checkCompare(options);
  if (options.format === undefined) return looking.compareStrictly(engine, left, right);
  return (await import('./importing/export.ts')).compareOutlines(
    await withFormats(engine),
    left,
    right,
    options.format,
  );
}

/** Erases a payload; see `erase.ts`. */
export async function erase(
  engine: Engine,
  session: string,
  point: PointInput,
  options: EraseOptions,
): Promise<Erased> {
  return (await import('./erasing/erase.ts')).erase(engine, session, point, options);
}

/** Checks a history; see `verify.ts`. */
export async function verify(engine: Engine, session: string, options: VerifyOptions): Promise<Verification> {
  return (await import('./proving/verify.ts')).verify(engine, session, options);
}

/** Copies sessions to a different store; see `copy.ts`. */
export async function copy(from: Engine, to: Engine, options: CopyOptions): Promise<Copied> {
  return (await import('./copying/copy.ts')).copy(from, to, options);
}

/** Rebuilds what is derived; see `repair.ts`. */
export async function repair(engine: Engine, session: string): Promise<Repaired> {
  return (await import('./proving/repair.ts')).repair(engine, session);
}

/** Checks one session of many; see `verify-deep.ts`. */
export async function checkDeep(
  engine: Engine,
  record: SessionRecord,
  own: readonly AnyProjection[],
): Promise<DeepResult> {
  return (await import('./proving/verify-deep.ts')).checkDeep(engine, record, own);
}
