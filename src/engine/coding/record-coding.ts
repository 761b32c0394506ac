import { canonicalForm } from '../../core/canonical-json.ts';
import type { CodingRun } from '../../core/coding/coding-book.ts';
import { contentText } from '../../core/coding/note.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonInput } from '../../core/json.ts';
import { checkBytes, checkLimit } from '../../core/limits.ts';
import { codingBook, codingRuns } from '../../projections/coding.ts';
import { append } from '../changing/append.ts';
import type { Engine } from '../context/engine.ts';
import { fingerprintThrough } from '../history/fingerprint.ts';
import { foldAt } from '../history/fold.ts';
import { type Place, placeAt } from '../history/place.ts';
import { sessionMasking } from '../recording/session-masking.ts';
import type { CodingRunEnd, CodingRunStart, RiskInput } from './coding-inputs.ts';

/** The branch that coding events go to, and the agent they are of. */
export interface CodingTarget {
  readonly engine: Engine;
  readonly session: string;
  readonly branch: string;
  /** The agent of the events; that of their run if left out. */
  readonly agent?: string;
}

/** Records one event in a run: the named one, else the open one, else none. The event is masked as recordings are. */
export async function recordCoding(
  target: CodingTarget,
  draft: EventDraft,
  { run, head }: { readonly run?: string | undefined; readonly head?: number } = {},
): Promise<Event> {
  const { run: chosen, agent } = chooseRun(target, await runsAt(target.engine, await settledHead(target)), run);
  return store(target, { ...draft, ...given({ run: chosen, agent: target.agent ?? agent }) }, head);
}

/** Starts a run. */
export async function startRun(target: CodingTarget, { run, title, agent }: CodingRunStart): Promise<Event> {
  const { engine } = target;
  const id = run === undefined ? engine.platform.newId() : checkId('run', run);
  const facts = await engine.platform.runFacts().catch(() => ({}));
  const data: JsonInput = { ...facts, ...given({ title }) };
  const draft = { type: 'run.started', run: id, ...given({ agent: agent ?? target.agent }), data };
  return recordAtHead(target, async (place) => {
    const known = (await runsAt(engine, place)).find((held) => held.run === id);
    if (known !== undefined) refuseKnownRun(target, known);
    return store(target, draft, place.seq);
  });
}

function refuseKnownRun({ branch }: CodingTarget, { run, endedSeq }: CodingRun): never {
  const isOpen = endedSeq === null;
  const why = isOpen ? 'it is open already' : 'there is a run of that id';
  throw new RepriseError('run.exists', `Cannot start run "${run}" on "${branch}": ${why}`, {
    hint: isOpen ? 'Record in it, end it first, or choose a new id.' : 'Choose a new id, or leave it out.',
    details: { run },
  });
}

/** Ends a run; its end has the fingerprint of everything before it, as that of a recorder does. */
export async function endRun(target: CodingTarget, { run, outcome = 'ok', result }: CodingRunEnd): Promise<Event> {
  return recordAtHead(target, async (place) => {
    const { run: chosen, agent } = chooseRun(target, await runsAt(target.engine, place), run);
    if (chosen === undefined)
      throw new RepriseError('run.not-found', `Cannot end a run on "${target.branch}": none is open`, {
        hint: 'Start one first.',
      });
    const about = { run: chosen, ...given({ agent: agent ?? target.agent }) };
    const fingerprint = await fingerprintThrough(target.engine, place);
    return store(target, { type: 'run.ended', ...about, data: given({ outcome, result, fingerprint }) }, place.seq);
  });
}

/** Times that a verb decides again because others appended while it decided. At each time one of them has got on. */
const decisionsMax = 100;

/**
 * Records something that depends on everything before it. If a different writer appends in between, it is decided again
 * at the new head. The events that wait in recorders of this process come first.
 */
export async function recordAtHead<Result>(
  target: CodingTarget,
  decide: (head: Place) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await decide(await settledHead(target));
    } catch (error) {
      if (!hasCode(error, 'append.conflict') || tries >= decisionsMax) throw error;
    }
  }
}

/** Appends an event, masked. */
async function store(target: CodingTarget, draft: EventDraft, head?: number): Promise<Event> {
  const { engine, session, branch } = target;
  const { mask } = await sessionMasking(engine, session);
  // Masking walks the whole value, so a value that is not JSON is refused before.
  const json = { ...draft, data: canonicalForm(draft.data ?? {}).copy };
  const [event] = await append(engine, session, mask === undefined ? json : mask(json), {
    branch,
    ...given({ head }),
  });
  return event as Event;
}

/** Looks up the head of the branch. */
function headOf({ engine, session, branch }: CodingTarget): Promise<Place> {
  return placeAt(engine, session, branch, { kind: 'head' });
}

/** Refuses a risk if there are too many, or too much of them: every context is searched for the texts of all of them. */
export async function checkRisks(target: CodingTarget, risk: RiskInput): Promise<void> {
  const { risks } = await foldAt(target.engine, await headOf(target), codingBook);
  const attempt = 'record one more risk';
  checkLimit('risksMax', risks.length + 1, attempt);
  const texts = [...risks, risk].flatMap(({ title, content, source }) => [title, contentText(content), source]);
  checkBytes(
    'risksBytesMax',
    texts.map((text) => text ?? ''),
    attempt,
  );
}

/** Looks up the head of the branch after everything that waits in recorders of this process. */
async function settledHead(target: CodingTarget): Promise<Place> {
  await target.engine.recorders.settled(target.session);
  return headOf(target);
}

async function runsAt(engine: Engine, place: Place): Promise<readonly CodingRun[]> {
  const { runs } = await foldAt(engine, place, codingRuns);
  return Object.values(runs);
}

/** Returns the run that an event belongs to. Refuses several open ones: no reader should have to guess. */
function chooseRun(
  target: CodingTarget,
  runs: readonly CodingRun[],
  run: string | undefined,
): { readonly run?: string; readonly agent?: string } {
  const open = runs.filter(({ endedSeq }) => endedSeq === null);
  const names = open.map((held) => held.run).join(', ');
  if (run !== undefined) {
    const found = open.find((held) => held.run === run);
    if (found !== undefined) return chosen(found);
    const hasEnded = runs.some((held) => held.run === run);
    throw new RepriseError(
      'run.not-found',
      `Cannot record in run "${run}" on "${target.branch}": ${hasEnded ? 'it has ended' : 'there is no such run'}`,
      {
        hint: open.length === 0 ? 'Start a run first.' : `The open runs are: ${names}.`,
        details: { run, open: open.map((held) => held.run) },
      },
    );
  }
  const [only, ...others] = open;
  if (others.length > 0)
    throw new RepriseError(
      'run.ambiguous',
      `Cannot record on "${target.branch}" without a run: ${open.length} runs are open`,
      {
        hint: `Name one of them: ${names}.`,
        details: { open: open.map((held) => held.run) },
      },
    );
  return only === undefined ? {} : chosen(only);
}

const chosen = ({ run, agent }: CodingRun): { readonly run: string; readonly agent?: string } => ({
  run,
  ...given({ agent: agent ?? undefined }),
});
