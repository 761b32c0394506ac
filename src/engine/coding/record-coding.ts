import type { CodingRun } from '../../core/coding/coding-book.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonInput } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { codingBook } from '../../projections/coding.ts';
import { append } from '../changing/append.ts';
import type { Engine } from '../context/engine.ts';
import { fingerprintThrough } from '../history/fingerprint.ts';
import { foldAt } from '../history/fold.ts';
import { type Place, placeAt } from '../history/place.ts';
import { sessionMasking } from '../recording/session-masking.ts';
import type { CodingRunEnd, CodingRunStart } from './coding-inputs.ts';

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
  const { run: chosen, agent } = await chooseRun(target, run);
  return store(target, { ...draft, ...given({ run: chosen, agent: target.agent ?? agent }) }, head);
}

/** Starts a run. */
export async function startRun(target: CodingTarget, { run, title, agent }: CodingRunStart): Promise<Event> {
  const { engine } = target;
  const id = run === undefined ? engine.platform.newId() : checkId('run', run);
  if ((await runsAt(target)).some((held) => held.run === id))
    throw new RepriseError('run.exists', `Cannot start run "${id}" on "${target.branch}": there is a run of that id`, {
      hint: 'Choose a new id, or leave it out.',
      details: { run: id },
    });
  const facts = await engine.platform.runFacts().catch(() => ({}));
  const data: JsonInput = { ...facts, ...given({ title }) };
  return store(target, { type: 'run.started', run: id, ...given({ agent: agent ?? target.agent }), data });
}

/** Ends a run; its end holds the fingerprint of everything before it, as that of a recorder does. */
export async function endRun(target: CodingTarget, { run, outcome = 'ok', result }: CodingRunEnd): Promise<Event> {
  const { run: chosen, agent } = await chooseRun(target, run);
  if (chosen === undefined)
    throw new RepriseError('run.not-found', `Cannot end a run on "${target.branch}": none is open`, {
      hint: 'Start one first.',
    });
  const about = { run: chosen, ...given({ agent: agent ?? target.agent }) };
  for (let tries = 1; ; tries++) {
    const place = await headOf(target);
    const fingerprint = await fingerprintThrough(target.engine, place);
    const draft = { type: 'run.ended', ...about, data: given({ outcome, result, fingerprint }) };
    try {
      return await store(target, draft, place.seq);
    } catch (error) {
      // A different writer appended in between, so the fingerprint is made again.
      if (!hasCode(error, 'append.conflict') || tries >= limits.recordAttemptsMax) throw error;
    }
  }
}

/** Appends an event, masked. */
async function store(target: CodingTarget, draft: EventDraft, head?: number): Promise<Event> {
  const { engine, session, branch } = target;
  const { mask } = await sessionMasking(engine, session);
  const [event] = await append(engine, session, mask === undefined ? draft : mask(draft), {
    branch,
    ...given({ head }),
  });
  return event as Event;
}

/** Looks up the head of the branch. */
export function headOf({ engine, session, branch }: CodingTarget): Promise<Place> {
  return placeAt(engine, session, branch, { kind: 'head' });
}

async function runsAt(target: CodingTarget): Promise<readonly CodingRun[]> {
  const { runs } = await foldAt(target.engine, await headOf(target), codingBook);
  return Object.values(runs);
}

/** Returns the run that an event belongs to. Several open ones are refused: nobody should have to guess. */
async function chooseRun(
  target: CodingTarget,
  run: string | undefined,
): Promise<{ readonly run?: string; readonly agent?: string }> {
  const runs = await runsAt(target);
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
