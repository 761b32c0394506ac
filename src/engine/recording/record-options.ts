import type { EventDraft } from '../../core/event/event.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import type { CallGuard } from '../../core/recording/call-guard.ts';
import type { AnswerPiece, Usage } from '../../core/recording/recorder.ts';

/** Says that a recorder moved to a new branch, because its branch was rewound under it. */
export interface BranchLeft {
  /** The branch it left. */
  readonly left: string;
  /** The seq it forked at: the last one it had stored. */
  readonly at: Seq;
  /** The branch it records on now. */
  readonly branch: string;
}

/** How to record. */
export interface RecordOptions {
  /** The agent that acts where nothing else says who does. */
  readonly agent?: string;
  /** Hears what could not be recorded: the first ten errors, so that a broken store does not flood a log. */
  readonly onError?: (error: Error) => void;
  /** Hears that the branch was rewound under the recorder, which then moved to a new one. */
  readonly onLeft?: (left: BranchLeft) => void;
  /** Hears pieces of answers while a model writes them, if its adapter gets them. They are not recorded. */
  readonly onText?: (piece: AnswerPiece) => void;
  /** Whether a run fails if part of it could not be recorded; `report` if left out: the report counts it. */
  readonly onFailure?: 'report' | 'fail';
  /**
   * Replaces secrets before the recorder stores an event; the masking the store was opened with if left out. `report`
   * takes an error that the event was stored in spite of.
   */
  readonly mask?: (event: EventDraft, report?: (error: Error) => void) => EventDraft;
  /** Returns what a model call cost in US dollars, or undefined; the prices the store was opened with if left out. */
  readonly prices?: { readonly costOf: (model: string, usage: Usage) => number | undefined };
  /** Whether `run.started` records facts about the machine: program, versions, git. True if left out. */
  readonly facts?: boolean;
  /** Decide, in order, whether a call is made, answered or refused. */
  readonly guards?: readonly CallGuard[];
}

/** The names of the options. */
export const recordKeys: KnownKeys = optionKeys<RecordOptions>(
  'record',
  {
    agent: 'text',
    onError: 'function',
    onLeft: 'function',
    onText: 'function',
    onFailure: 'text',
    mask: true,
    prices: 'object',
    facts: true,
    guards: 'list',
  },
  'a recording',
);
