import { canonicalJson } from '../../core/canonical-json.ts';
import { checkId } from '../../core/id.ts';
import type { JsonObject } from '../../core/json.ts';
import { checkKeys } from '../../core/known-keys.ts';
import type { PersonAnswer, WaitingCall } from '../../core/recording/person-calls.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import { summary } from '../../projections/summary.ts';
import { waiting } from '../../projections/waiting.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { fold, foldAt } from '../history/fold.ts';
import { type Place, placeAtHead, sessionRecord } from '../history/place.ts';
import { sightAt } from '../history/sight.ts';
import { RecorderCounts } from './counts.ts';
import { RecorderQueue } from './queue.ts';
import { type RecordOptions, recordKeys } from './record-options.ts';
import { SessionRecorder } from './recorder.ts';
import { recordingDefaults } from './recording-defaults.ts';
import { StoreBreaker } from './store-breaker.ts';
import { TurnClock } from './turn-clock.ts';
import { unansweredTurn } from './unanswered-turn.ts';
import { RecorderWriter } from './writer.ts';

/** The head of a branch to record on, its session, and its highest turn. */
interface RecordPlace {
  readonly place: Place;
  readonly session: SessionRecord;
  readonly turns: number | Promise<number>;
}

/** Starts to record on a branch. Turns continue those of the branch: with its last turn, if that waits for a model. */
export async function record(
  engine: Engine,
  { session, branch }: OnBranch,
  options: RecordOptions = {},
): Promise<SessionRecorder> {
  checkKeys(options, recordKeys);
  if (options.agent !== undefined) checkId('agent', options.agent);
  const [place, of] = await Promise.all([placeAtHead(engine, session, branch), sessionRecord(engine, session)]);
  const turns = fold(sightAt(engine, place, of), summary).then((held) => held.turns);
  return recordAt(engine, { place, session: of, turns }, options);
}

/** Starts to record at a head that was just looked up. */
export async function recordAt(
  engine: Engine,
  { place, session: of, turns }: RecordPlace,
  given: RecordOptions,
  answers: readonly PersonAnswer[] = [],
): Promise<SessionRecorder> {
  checkKeys(given, recordKeys);
  const options = { ...given, ...recordingDefaults(engine, of, given) };
  const { session, genesis } = of;
  const { branch } = place.record;
  const { platform, chores } = engine;
  const clock = new TurnClock(...(await Promise.all([turns, unansweredTurn(engine, place, options.agent)])));
  const counts = new RecorderCounts(branch, options.onError ?? (() => undefined));
  const breaker = new StoreBreaker();
  const writer = new RecorderWriter(engine, session, {
    place: { branch, epoch: place.record.epoch, seq: place.seq },
    counts,
    breaker,
    onLeft: (left) => {
      try {
        options.onLeft?.(left);
      } catch (error) {
        counts.fail(error, 0);
      }
    },
  });
  const name = `recorder ${platform.newId()}`;
  const settled = (): Promise<void> => queue.settledOrStalled();
  const queue: RecorderQueue = new RecorderQueue({
    write: (batch) => writer.write(batch),
    drop: (error, events) => counts.fail(error, events),
    // Closing the store waits for these events, even if the recorder was not closed.
    onBusy: (idle) => {
      chores.add(name, () => idle);
      engine.recorders.add(session, settled, idle);
    },
    startTimer: platform.startTimer,
    breaker,
  });
  const facts = options.facts === false ? Promise.resolve({}) : factsOf(engine, counts);
  const waits = async (): Promise<readonly WaitingCall[]> => {
    await queue.settled();
    return (await foldAt(engine, await placeAtHead(engine, session, counts.branch), waiting)).calls;
  };
  return new SessionRecorder({
    session,
    history: canonicalJson([engine.namespace, session, genesis]),
    platform,
    options,
    counts,
    queue,
    turns: clock,
    facts,
    answers,
    waiting: waits,
  });
}

async function factsOf({ platform }: Engine, counts: RecorderCounts): Promise<JsonObject> {
  try {
    return await platform.runFacts();
  } catch (error) {
    counts.fail(error, 0);
    return {};
  }
}
