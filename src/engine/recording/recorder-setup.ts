import type { JsonObject } from '../../core/json.ts';
import type { PersonAnswer, WaitingCall } from '../../core/recording/person-calls.ts';
import type { Platform } from '../../core/store/event-store.ts';
import type { RecorderCounts } from './counts.ts';
import type { RecorderQueue } from './queue.ts';
import type { RecordOptions } from './record-options.ts';
import type { TurnClock } from './turn-clock.ts';

/** Everything a recorder is made of. */
export interface RecorderSetup {
  readonly session: string;
  /** Names the session, even among sessions of the same id in other namespaces and stores. */
  readonly history: string;
  readonly platform: Platform;
  readonly options: RecordOptions;
  readonly counts: RecorderCounts;
  readonly queue: RecorderQueue;
  readonly turns: TurnClock;
  /** The answers of people that a resume brought. */
  readonly answers: readonly PersonAnswer[];
  /** Returns the questions on the branch that wait for a person. */
  readonly waiting: () => Promise<readonly WaitingCall[]>;
  /** Facts about the machine for `run.started`; never rejects. */
  readonly facts: Promise<JsonObject>;
}
