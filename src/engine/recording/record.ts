import { canonicalJson } from '../../core/canonical-json.ts';
import { checkId } from '../../core/id.ts';
import type { JsonObject } from '../../core/json.ts';
import { checkKeys } from '../../core/known-keys.ts';
import type { PersonAnswer, WaitingCall } from '../../core/recording/person-calls.ts';
import { summary } from '../../projections/summary.ts';
import { waiting } from '../../projections/waiting.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { withRememberedReads } from '../context/remembered-reads.ts';
import { foldAt } from '../history/fold.ts';
import { placeAt, sessionRecord } from '../history/place.ts';
import { RecorderCounts } from './counts.ts';
import { RecorderQueue } from './queue.ts';
import { type RecordOptions, recordKeys } from './record-options.ts';
import { SessionRecorder } from './recorder.ts';
import { recordingDefaults } from './recording-defaults.ts';
import { StoreBreaker } from './store-breaker.ts';
import { TurnClock } from './turn-clock.ts';
import { unansweredTurn } from './unanswered-turn.ts';
import { RecorderWriter } from './writer.ts';

/** Starts to record on a branch. Turns continue those of the branch: with its last turn, if that waits for a model. */
export async function record(
  engine: Engine,
  { session, branch }: OnBranch,
  given: RecordOptions = {},
  answers: readonly PersonAnswer[] = [],
  reading: Engine = withRememberedReads(engine),
): Promise<SessionRecorder> {
  checkKeys(given, recordKeys);
  const options = { ...given, ...(await recordingDefaults(reading, session, given)) };
  if (options.agent !== undefined) checkId('agent', options.agent);
  const { platform, chores } = engine;
  // The folds ask for it, too; a store behind a network answers both at once. A failure shows where it is awaited.
  reading.store.session(sessionRef(reading, session)).catch(() => undefined);
  const place = await placeAt(reading, session, branch, { kind: 'head' });
  const [{ turns }, unanswered, { genesis }] = await Promise.all([
    foldAt(reading, place, summary),
    unansweredTurn(reading, place, options.agent),
    sessionRecord(reading, session),
  ]);
  const clock = new TurnClock(turns, unanswered);
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
    // Closing the store waits for these events, even if nobody closed the recorder.
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
    return (await foldAt(engine, await placeAt(engine, session, counts.branch, { kind: 'head' }), waiting)).calls;
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
