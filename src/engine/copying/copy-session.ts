import { type ErrorCode, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { genesisDigest } from '../../core/parts/digest.ts';
import { beginning, previous, type Seq } from '../../core/point.ts';
import type { BranchSummary, SessionRef } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { heldReceipts } from '../history/held-receipts.ts';
import { sessionRecord } from '../history/place.ts';
import { verify } from '../proving/verify.ts';
import { copyErasures } from './copy-erasures.ts';
import type { CopiedSession, CopyOptions } from './copy-options.ts';
import { proveCopy } from './copy-proof.ts';
import { checkEarlier, eventsIn, type Standing, stagedId, standingOf } from './copy-standing.ts';
import { copyStretch } from './copy-stretch.ts';
import { damagedSource, type Transfer } from './transfer.ts';

// The next pass finds changes at either end; a source that is erased all the time wins after the last pass.
const passesMax = 5;

/** Copies one session, and proves that the target has what the source has. */
export async function copySession(
  from: Engine,
  to: Engine,
  session: string,
  options: CopyOptions,
): Promise<CopiedSession> {
  let written = 0;
  for (let pass = 1; ; pass++) {
    try {
      const copied = await copyOnce(from, to, session, options, (events) => {
        written += events;
      });
      if (copied !== undefined) return { ...copied, written: copied.written + written };
      if (pass === passesMax) throw alwaysErased(session);
    } catch (error) {
      if (pass < passesMax && isRace(error)) continue;
      const reason = await diagnosed(from, session, error);
      if (options.dryRun !== true && isUseless(reason)) await discard(from, to, session);
      throw reason;
    }
  }
}

function alwaysErased(session: string): RepriseError {
  return new RepriseError(
    'store.busy',
    `Cannot copy session "${session}": events at the source are being erased all the time`,
    {
      hint: 'Copy it again when nothing is being erased.',
      details: { session },
    },
  );
}

/** Returns the state of a session, or throws `session.not-found`. */
async function heldStanding(engine: Engine, session: string): Promise<Standing> {
  const standing = await standingOf(engine, session);
  return standing ?? { record: await sessionRecord(engine, session), branches: [] };
}

/** Returns true if a different writer changed the target, or finished the same copy, in between: the next pass finds out. */
function isRace(error: unknown): boolean {
  return hasOneOf(error, ['append.conflict', 'session.exists', 'session.not-found']);
}

function hasOneOf(error: unknown, codes: readonly ErrorCode[]): error is RepriseError {
  return error instanceof RepriseError && codes.includes(error.code);
}

const saidWell: readonly ErrorCode[] = [
  'copy.aborted',
  'copy.diverged',
  'part.missing',
  'session.not-found',
  'store.busy',
  'store.closed',
  'store.denied',
  'store.full',
  'store.read-only',
  'store.unreachable',
];

/** Returns the error to report. If the source is damaged, that is the reason, with the damaged seq. */
async function diagnosed(from: Engine, session: string, error: unknown): Promise<unknown> {
  if (hasOneOf(error, saidWell)) return error;
  for (const { branch } of await from.store.branches(sessionRef(from, session))) {
    const { ok, firstBad, reason } = await verify(from, { session, branch, at: { kind: 'head' } });
    if (!ok) return damagedSource({ session }, branch, firstBad ?? beginning, reason ?? '', error);
  }
  return error;
}

/** Returns true if the next copy cannot use what this one has written. */
function isUseless(error: unknown): boolean {
  return hasOneOf(error, ['copy.not-verified', 'event.damaged', 'part.missing']);
}

/** Deletes the unfinished copy. If that fails, its name still says that it is unfinished. */
async function discard(from: Engine, to: Engine, session: string): Promise<void> {
  const id = stagedId(await sessionRecord(from, session));
  await to.store.deleteSession(sessionRef(to, id)).catch((error: unknown) => {
    if (!(error instanceof RepriseError)) throw error;
  });
}

type OnWritten = (events: number) => void;

/** Runs one pass; returns undefined if a payload was erased at the source in the meantime. */
async function copyOnce(
  from: Engine,
  to: Engine,
  session: string,
  options: CopyOptions,
  onWritten: OnWritten,
): Promise<CopiedSession | undefined> {
  const source = await heldStanding(from, session);
  checkGenesis(from, source);
  const target = await standingOf(to, session);
  if (target !== undefined) await checkEarlier(from, source, to, target);
  const result = { session, written: 0, branches: source.branches.map(headOf) };
  // The last copy still has payloads that were erased since: a new copy replaces it.
  const isErased = target !== undefined && target.record.erasures !== source.record.erasures;
  const outcome = target === undefined ? 'copied' : isErased ? 'replaced' : 'updated';
  if (options.dryRun === true) return await dryResult(from, to, source, target, { ...result, outcome });
  try {
    if (target !== undefined && !isErased) {
      const changed = await copyInto(from, to, source, target, options, onWritten);
      if (!(await isStill(from, source))) return undefined;
      return { ...result, outcome: changed === 0 ? 'unchanged' : 'updated' };
    }
    await copyStaged(from, to, source, target, options, onWritten);
    return (await isStill(from, source)) ? { ...result, outcome } : undefined;
  } catch (error) {
    // An erasure while the copy is compared with its source looks like damage of one of them.
    if (isUseless(error) && !(await isStill(from, source))) return undefined;
    throw error;
  }
}

/** Refuses a session whose genesis does not match its seed: the target would take it for a different one. */
function checkGenesis({ platform }: Engine, { record: { session, root, seed, genesis } }: Standing): void {
  if (genesisDigest(platform.sha256, seed) === genesis) return;
  throw damagedSource({ session }, root, beginning, "the session's genesis does not match its seed");
}

function headOf({ branch, head, digest }: BranchSummary): CopiedSession['branches'][number] {
  return { branch, head, digest };
}

async function isStill(from: Engine, { record }: Standing): Promise<boolean> {
  return (await sessionRecord(from, record.session)).erasures === record.erasures;
}

/** Returns what a copy would do. It would continue an unfinished one. */
async function dryResult(
  from: Engine,
  to: Engine,
  source: Standing,
  target: Standing | undefined,
  result: CopiedSession,
): Promise<CopiedSession> {
  const isUpdate = result.outcome === 'updated';
  const found = isUpdate ? target : await standingOf(to, stagedId(source.record));
  const base = found?.record.erasures === source.record.erasures ? found : undefined;
  if (base !== undefined && !isUpdate) await checkEarlier(from, source, to, base);
  const written = eventsIn(source) - (base === undefined ? 0 : eventsIn(base));
  return { ...result, written, outcome: isUpdate && written === 0 ? 'unchanged' : result.outcome };
}

/** Copies a session under a temporary id, and gives it its name once it is complete and proved. */
async function copyStaged(
  from: Engine,
  to: Engine,
  source: Standing,
  target: Standing | undefined,
  options: CopyOptions,
  onWritten: OnWritten,
): Promise<void> {
  const id = stagedId(source.record);
  const staged = await stagedStanding(from, to, source, id);
  await copyInto(from, to, source, staged, options, onWritten, target);
  // A copy with payloads that were erased since must not get the name.
  if (!(await isStill(from, source))) return;
  const { session } = source.record;
  await to.store.renameSession(sessionRef(to, id), {
    to: session,
    ...given({ replaces: target?.branches }),
  });
  to.memories.delete(session);
}

/** Returns the unfinished copy of a session, or a new one. Deletes an unfinished one if payloads were erased since. */
async function stagedStanding(from: Engine, to: Engine, source: Standing, id: string): Promise<Standing> {
  const found = await standingOf(to, id);
  const { root, seed, createdAt, erasures } = source.record;
  if (found !== undefined && found.record.erasures === erasures) {
    await checkEarlier(from, source, to, found);
    return found;
  }
  if (found !== undefined) await to.store.deleteSession(sessionRef(to, id));
  await to.store.createSession(sessionRef(to, id), { root, seed, createdAt, erasures });
  return await heldStanding(to, id);
}

/** Writes the missing events to a session of the target, and proves them. Returns their number. */
async function copyInto(
  from: Engine,
  to: Engine,
  source: Standing,
  target: Standing,
  options: CopyOptions,
  onWritten: OnWritten,
  replaced?: Standing,
): Promise<number> {
  const { session } = source.record;
  const total = eventsIn(source) - eventsIn(target);
  let events = 0;
  const transfer: Transfer = {
    from,
    to,
    session,
    target: target.record.session,
    erasures: await copyErasures(from, session, source.branches),
    batchEvents: limits.pageEventsMax,
    signal: options.signal,
    onWritten: (count) => {
      events += count;
      onWritten(count);
      options.onProgress?.({ session, stage: 'copying', events, total });
    },
  };
  const parts = stretchesLeft(source, target);
  for (const { branch, after, through } of parts) await copyStretch(transfer, branch, after, through);
  if (replaced !== undefined) await copyReceipts(transfer, sessionRef(to, session), to);
  await copyReceipts(transfer, sessionRef(from, session), from);
  if (!(await isStill(from, source))) return events;
  const changed = new Set(parts.map(({ branch }) => branch.branch));
  const isNew = replaced !== undefined || session !== target.record.session;
  const names = isNew ? new Set(source.branches.map(({ branch }) => branch)) : changed;
  await proveCopy(transfer, source, names, options);
  return events;
}

interface StretchLeft {
  readonly branch: BranchSummary;
  readonly after: Seq;
  readonly through: Seq;
}

/**
 * Returns the stretches that the target lacks, branch by branch in the order of creation, so that a parent comes before
 * its children. The event appended last comes last, so that the target has the same time of the last append.
 */
function stretchesLeft({ record, branches }: Standing, target: Standing): StretchLeft[] {
  const heads = new Map(target.branches.map(({ branch, head }) => [branch, head]));
  const left = branches
    .map((branch) => ({
      branch,
      after: heads.get(branch.branch) ?? branch.parent?.seq ?? beginning,
      through: branch.head,
    }))
    .filter(({ after, through }) => after < through);
  const isForkedAt = (name: string, seq: Seq): boolean =>
    branches.some(({ parent }) => parent?.branch === name && parent.seq === seq);
  const last = left.findLast(
    ({ branch, through }) => branch.updatedAt === record.updatedAt && !isForkedAt(branch.branch, through),
  );
  if (last === undefined) return left;
  const before = previous(last.through);
  return [
    ...left
      .map((held) => (held === last ? { ...held, through: before } : held))
      .filter((held) => held.after < held.through),
    { ...last, after: before },
  ];
}

/** Copies the receipts of a session; they are few. */
async function copyReceipts({ to, target }: Transfer, ref: SessionRef, { store }: Engine): Promise<void> {
  for await (const receipt of heldReceipts(store, ref)) await to.store.putReceipt(sessionRef(to, target), receipt);
}
