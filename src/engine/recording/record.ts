import type { EventDraft } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import type { JsonObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { CallEnd, CallStart, ReusedAnswer, Usage } from '../../core/recording/recorder.ts';
import { mainBranch } from '../../core/ref.ts';
import { summary } from '../../projections/summary.ts';
import type { Engine } from '../context/engine.ts';
import { foldAt } from '../history/fold.ts';
import { placeAt } from '../history/place.ts';
import { chosenRecording } from './chosen-recording.ts';
import { RecorderCounts } from './counts.ts';
import { RecorderQueue } from './queue.ts';
import { SessionRecorder } from './recorder.ts';
import { TurnClock } from './turn-clock.ts';
import { unansweredTurn } from './unanswered-turn.ts';
import { type BranchLeft, RecorderWriter } from './writer.ts';

/** Where the start of a call is stored. */
export interface StoredStart {
  /** The id of its event. */
  readonly id: string | undefined;
  readonly branch: string;
}

/** How to record. */
export interface RecordOptions {
  /** `main` if left out. */
  readonly branch?: string;
  /** Who acts where nothing else says it. */
  readonly agent?: string;
  /** Told of what could not be recorded; of the first ten errors, so that a broken store does not flood a log. */
  readonly onError?: (error: Error) => void;
  /** Told when the branch was rewound under the recorder, which then goes on with a new one. */
  readonly onLeft?: (left: BranchLeft) => void;
  /** Whether a run fails when something of it could not be recorded; `report` if left out: it is counted and told. */
  readonly onFailure?: 'report' | 'fail';
  /** Replaces secrets, before anything is stored; what the store was opened with if left out. */
  readonly mask?: (event: EventDraft) => EventDraft;
  /** Says what a model call cost, in US dollars; undefined where the price is unknown. What the store was opened with if left out. */
  readonly prices?: { readonly costOf: (model: string, usage: Usage) => number | undefined };
  /** Whether `run.started` says what the machine knows: program, versions, git. True if left out. */
  readonly facts?: boolean;
  /** Asked before a call is made: an answer stands in for making it, and what this throws is thrown to the caller. */
  readonly beforeCall?: (start: CallStart & { readonly call: string }) => Promise<ReusedAnswer | undefined>;
  /** Asked once more when the start of an irreversible call is stored: if it throws, the call is not made, and the caller gets that. */
  readonly afterStart?: (start: CallStart & { readonly call: string }, stored: StoredStart) => Promise<void>;
  /** Told how a call ended, with its outcome and cost. */
  readonly afterCall?: (start: CallStart & { readonly call: string }, end: CallEnd) => void;
}

const recordKeys: KnownKeys = optionKeys<RecordOptions>(
  'record',
  {
    branch: true,
    agent: true,
    onError: true,
    onLeft: true,
    onFailure: true,
    mask: true,
    prices: true,
    facts: true,
    beforeCall: true,
    afterStart: true,
    afterCall: true,
  },
  'a recording',
);

/** Begins to record on a branch. Its turns go on where the branch's end: with the last one, if it waits for a model. */
export async function record(engine: Engine, session: string, given: RecordOptions = {}): Promise<SessionRecorder> {
  checkKeys(given, recordKeys);
  const options = { ...given, ...(await chosenRecording(engine, session, given)) };
  const branch = options.branch === undefined ? mainBranch : checkId('branch', options.branch);
  if (options.agent !== undefined) checkId('agent', options.agent);
  const { platform, chores } = engine;
  const place = await placeAt(engine, session, branch, { kind: 'head' });
  const { turns } = await foldAt(engine, place, summary);
  const clock = new TurnClock(turns, await unansweredTurn(engine, place, options.agent));
  const counts = new RecorderCounts(branch, options.onError ?? (() => undefined));
  const writer = new RecorderWriter(engine, session, {
    place: { branch, epoch: place.record.epoch, seq: place.seq },
    counts,
    onLeft: (left) => {
      try {
        options.onLeft?.(left);
      } catch (error) {
        counts.fail(error, 0);
      }
    },
  });
  const name = `recorder ${platform.newId()}`;
  const queue = new RecorderQueue(
    (batch) => writer.write(batch),
    // Closing the store waits for what was told, also where nobody closed the recorder.
    (idle) => chores.add(name, () => idle),
    platform.startTimer,
  );
  const facts = options.facts === false ? Promise.resolve({}) : factsOf(engine, counts);
  return new SessionRecorder({ session, platform, options, counts, queue, turns: clock, facts });
}

async function factsOf({ platform }: Engine, counts: RecorderCounts): Promise<JsonObject> {
  try {
    return await platform.runFacts();
  } catch (error) {
    counts.fail(error, 0);
    return {};
  }
}
